// The page around the lines: one head after another of one input. `mount` is of attention_lines.js, in front of this.

const given = JSON.parse(document.getElementById("data").textContent);
const stage = document.getElementById("lines");
const controls = {};
for (const name of ["layer", "head", "weight"]) {
  controls[name] = document.getElementById(name);
  controls[name].addEventListener("input", show);
}
offer("layer", given.layers);
offerHeads();
controls.head.value = given.head;
controls.weight.value = given.minWeight;
let pins = [];
show();

function offer(name, labels) {
  const before = controls[name].value;
  controls[name].replaceChildren(...labels.map((label) => new Option(label, label)));
  controls[name].value = labels.includes(before) ? before : labels[0];
}

function offerHeads() {
  if (!controls.layer.dataset.shown) controls.layer.value = given.layer;
  controls.layer.dataset.shown = controls.layer.value;
  offer("head", Object.keys(given.weights[controls.layer.value]));
}

function show() {
  if (controls.layer.dataset.shown !== controls.layer.value) offerHeads();
  const label = `${controls.layer.value}-${controls.head.value}`;
  const minWeight = Number(controls.weight.value);
  document.getElementById("minimum").textContent = minWeight.toFixed(2);
  mount({
    data: {
      ...given.input, minWeight, pins, text: "", canMask: false,
      weights: given.weights[controls.layer.value][controls.head.value],
      title: `Head ${label}, ${given.model}`,
      name: `attention-${label}`,
    },
    parentElement: stage,
    setTriggerValue: (name, value) => { if (name === "pins") pins = value; },
  });
}
