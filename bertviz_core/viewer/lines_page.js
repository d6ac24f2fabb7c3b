// The page around the lines: one head after another of one input.
// `mount` comes from attention_lines.js, which precedes this script.

const { input, weights, model, ...opening } = JSON.parse(document.getElementById("data").textContent);
const [stage, head, weight, minimum] = ["lines", "head", "weight", "minimum"].map((id) => document.getElementById(id));
let pins = [];
head.append(...Object.keys(weights).map((label) => new Option(label, label)));
[head.value, weight.value] = [opening.head, opening.minWeight];
for (const control of [head, weight]) control.addEventListener("input", show);
show();

function show() {
  const label = head.value;
  minimum.textContent = Number(weight.value).toFixed(2);
  mount({
    data: {
      ...input, heads: [{ weights: weights[label] }], minWeight: Number(weight.value), pins, text: "", canMask: false,
      title: `Head ${label}${model && `, ${model}`}`, name: `attention-${label}`,
    },
    parentElement: stage,
    setTriggerValue: received,
  });
}

function received(name, value) {
  if (name === "pins") pins = value;
  if (name !== "step") return;
  head.selectedIndex = (head.selectedIndex + value + head.length) % head.length;
  show();
}
