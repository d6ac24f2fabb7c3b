// Markers on a grid of layers and heads. Text only ever enters through textContent.

const NS = "http://www.w3.org/2000/svg";
const LEFT = 46, RIGHT = 8, BOTTOM = 58, WIDTH = 420;
const half = 0.5, slim = 0.433;
const PATHS = { // of a marker one unit wide
  circle: "M-.5 0a.5 .5 0 1 0 1 0a.5 .5 0 1 0-1 0z",
  square: "M-.45-.45h.9v.9h-.9z",
  diamond: "M0-.6L.6 0 0 .6-.6 0z",
  x: "M-.5-.3L-.3-.5 0-.2 .3-.5 .5-.3 .2 0 .5 .3 .3 .5 0 .2-.3 .5-.5 .3-.2 0z",
  "triangle-up": `M0-.577L${half} .289H-${half}z`,
  "triangle-left": `M-.577 0L.289-${half}V${half}z`,
  "triangle-right": `M.577 0L-.289-${half}V${half}z`,
};
const hidden = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".map");
  if (!hidden.has(root)) hidden.set(root, new Set());
  draw(root, data, hidden.get(root), (head) => setTriggerValue("head", head));
}

function draw(root, data, off, choose) {
  const legend = document.createElement("div");
  legend.className = "legend";
  const picture = map(data, off, choose);
  for (const trace of data.traces.filter((one) => one.name)) {
    const swatch = svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" });
    swatch.append(marker(trace, 0, 0, 11));
    const entry = button(legend, trace.name, () => {
      if (!off.delete(trace.name)) off.add(trace.name);
      draw(root, data, off, choose);
    });
    entry.setAttribute("aria-pressed", String(!off.has(trace.name)));
    entry.prepend(swatch);
  }
  button(legend, "SVG", () => save(picture, data.name)).classList.add("save");
  root.replaceChildren(legend, picture);
}

function map(data, off, choose) {
  const cell = Math.max(...data.traces.map((trace) => trace.size)) + 10;
  const height = data.y.ticks.length * cell + BOTTOM;
  const across = (WIDTH - LEFT - RIGHT) / data.x.ticks.length;
  const at = (x, y) => [LEFT + (x - 0.5) * across, (y - 0.5) * cell];
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": data.alt, class: "drawing" });
  const foot = height - BOTTOM;
  data.x.ticks.forEach((tick, i) => picture.append(text(tick, at(i + 1, 1)[0], foot + 15, 11)));
  data.y.ticks.forEach((tick, i) => picture.append(text(tick, LEFT - 12, at(1, i + 1)[1] + 4, 11)));
  picture.append(text(data.x.title, (LEFT + WIDTH - RIGHT) / 2, foot + 32, 12));
  const side = text(data.y.title, 0, 0, 12);
  side.setAttribute("transform", `translate(14 ${foot / 2}) rotate(-90)`);
  const origin = text(data.origin, WIDTH - RIGHT, height - 6, 8);
  origin.setAttribute("text-anchor", "end");
  origin.setAttribute("opacity", "0.6");
  picture.append(side, origin);
  for (const trace of data.traces) if (!off.has(trace.name)) picture.append(points(trace, at, choose));
  return picture;
}

function points(trace, at, choose) {
  const group = svg("g", { class: "trace" });
  trace.x.forEach((x, i) => {
    const [left, top] = at(x, trace.y[i]);
    const head = trace.heads[i];
    const point = svg("g", head ? { class: "point", "data-head": head } : { "pointer-events": "none" });
    point.append(marker(trace, left, top, trace.size));
    if (trace.letters[i]) {
      const letter = text(trace.letters[i], left, top + 3.5, 10);
      letter.setAttribute("fill", "#ffffff");
      point.append(letter);
    }
    if (head) {
      point.append(svg("title", {}, trace.hover[i]));
      point.addEventListener("click", () => choose(head));
    }
    group.append(point);
  });
  return group;
}

function marker(trace, x, y, size) {
  const open = trace.symbol.endsWith("-open");
  const shape = {
    d: PATHS[trace.symbol.replace("-open", "")],
    transform: `translate(${x} ${y}) scale(${size})`,
    fill: open ? "none" : trace.color,
    stroke: open ? trace.color : trace.line.color,
    "stroke-width": trace.line.width,
    "vector-effect": "non-scaling-stroke",
  };
  return svg("path", shape);
}

function svg(tag, attributes, content = "") {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = content;
  return element;
}

function text(content, x, y, size) {
  return svg("text", { x, y, "font-size": size, "text-anchor": "middle", fill: "currentColor" }, content);
}

function button(parent, label, act) {
  const made = parent.appendChild(document.createElement("button"));
  made.type = "button";
  made.append(label);
  made.addEventListener("click", act);
  return made;
}

function save(picture, name) {
  const copy = picture.cloneNode(true);
  for (const [key, value] of Object.entries({ xmlns: NS, color: "#1f2430", "font-family": "sans-serif" })) copy.setAttribute(key, value);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  link.download = `${name}.svg`;
  link.click();
  URL.revokeObjectURL(link.href);
}
