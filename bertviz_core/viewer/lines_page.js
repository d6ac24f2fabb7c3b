// The page around the lines: one head after another of one input. `mount` is of attention_lines.js, in front of this.

const given = JSON.parse(document.getElementById("data").textContent);
const ids = ["lines", "layer", "head", "weight", "minimum"];
const [stage, layer, head, weight, minimum] = ids.map((id) => document.getElementById(id));
let pins = [];
offer(layer, given.layers, given.layer);
offerHeads();
weight.value = given.minWeight;
layer.addEventListener("input", offerHeads);
for (const control of [layer, head, weight]) control.addEventListener("input", show);
show();

function offer(select, labels, chosen) {
  select.replaceChildren(...labels.map((label) => new Option(label, label)));
  select.value = labels.includes(chosen) ? chosen : labels[0];
}

function offerHeads() {
  offer(head, Object.keys(given.weights[layer.value]), head.value || given.head);
}

function show() {
  const label = `${layer.value}-${head.value}`;
  minimum.textContent = Number(weight.value).toFixed(2);
  mount({
    data: {
      ...given.input, minWeight: Number(weight.value), pins, text: "", canMask: false,
      weights: given.weights[layer.value][head.value],
      title: `Head ${label}, ${given.model}`,
      name: `attention-${label}`,
    },
    parentElement: stage,
    setTriggerValue: (name, value) => { if (name === "pins") pins = value; },
  });
}
