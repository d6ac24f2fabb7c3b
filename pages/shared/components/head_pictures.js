// Every head's map as a small picture, in its place on the map of heads; a click or Enter chooses one.

const FAINTEST = 0.07; // so that a picture is seen where its weights are near 0
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  let view = views.get(parentElement);
  if (!view) views.set(parentElement, (view = new Pictures(parentElement)));
  view.send = setTriggerValue;
  view.update(data);
  return () => {
    view.root.remove();
    views.delete(parentElement);
  };
}

function make(tag, className, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

class Pictures {
  constructor(parent) {
    this.root = parent.appendChild(make("div", "pictures", "", { role: "group" }));
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  update(data) {
    const before = this.data;
    this.data = data;
    this.root.setAttribute("aria-label", data.title);
    const shape = ({ layers, heads, down, across, base }) => [layers, heads, down, across, base].join();
    if (!before || shape(before) !== shape(data)) this.build();
    if (before?.pictures !== data.pictures || !before || shape(before) !== shape(data)) this.paint();
    this.choose(data.chosen);
  }

  build() {
    const { layers, heads, down, across, base } = this.data;
    const height = Math.max(12, Math.min(46, Math.floor(330 / layers))) + 3;
    this.root.style.gridTemplate = `repeat(${heads}, ${height}px) auto auto / auto auto repeat(${layers}, minmax(0, 1fr))`;
    const place = (element, row, column) => {
      element.style.gridArea = `${row} / ${column}`;
      return element;
    };
    this.canvas = make("canvas", "", "", { width: layers * (across + 1), height: heads * (down + 1), "aria-hidden": "true" });
    this.canvas.style.gridArea = `1 / 3 / span ${heads} / span ${layers}`;
    const head = place(make("div", "name side", "head"), 1, 1);
    head.style.gridRowEnd = `span ${heads}`;
    const layer = place(make("div", "name", "layer"), heads + 2, 3);
    layer.style.gridColumnEnd = `span ${layers}`;
    this.root.replaceChildren(this.canvas, head, layer);
    for (let h = 0; h < heads; h++) this.root.append(place(make("div", "tick side", `${h + base}`), h + 1, 2));
    for (let l = 0; l < layers; l++) this.root.append(place(make("div", "tick", `${l + base}`), heads + 1, l + 3));
    this.buttons = new Map();
    for (let l = 0; l < layers; l++) {
      for (let h = 0; h < heads; h++) {
        const name = `Head ${l + base}-${h + base}`;
        const button = make("button", "button", "", { type: "button", title: name, "aria-label": name });
        button.place = [l, h];
        button.addEventListener("click", () => this.choose(this.label(button), true));
        this.buttons.set(this.label(button), button);
        this.root.append(place(button, h + 1, l + 3));
      }
    }
  }

  label({ place: [layer, head] }) {
    return `${layer + 1}-${head + 1}`;
  }

  paint() {
    const { layers, heads, down, across, pictures } = this.data;
    const bytes = Uint8Array.from(atob(pictures), (c) => c.charCodeAt(0));
    const context = this.canvas.getContext("2d");
    for (let n = 0; n < layers * heads && down * across; n++) {
      const picture = context.createImageData(across, down);
      for (let i = 0; i < down * across; i++) {
        const weight = bytes[n * down * across + i] / 255;
        picture.data.set([76, 110, 245, 255 * (FAINTEST + (1 - FAINTEST) * weight)], 4 * i);
      }
      context.putImageData(picture, Math.floor(n / heads) * (across + 1), (n % heads) * (down + 1));
    }
  }

  choose(label, send = false) {
    for (const [name, button] of this.buttons) {
      button.setAttribute("aria-pressed", name === label);
      button.tabIndex = name === label ? 0 : -1;
    }
    if (send) this.send("head", label);
  }

  key(event) {
    const step = STEPS[event.key];
    if (!step || !event.target.place || event.ctrlKey || event.altKey || event.metaKey) return;
    const [layer, head] = event.target.place;
    this.buttons.get(this.label({ place: [layer + step[0], head + step[1]] }))?.focus();
    event.preventDefault();
  }
}
