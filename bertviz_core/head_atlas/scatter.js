// Heads in the plane of two of their numbers, colored by a third: each dot leads to the page of its head. elements.js and
// head_map_cells.js, for colors, come before this.

const [WIDE, HIGH, EDGE, FOOT] = [640, 400, 58, 46]; // of the drawing, and of its margins at the left and below

// Values at which an axis has a number, from the lowest to the highest
function ticksBetween(low, high) {
  const rough = (high - low) / 5 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const first = Math.ceil(low / step), count = Math.floor(high / step) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

function rangeOf(values) {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)], room = 0.04 * (high - low) || 1;
  return [low - room, high + room];
}

// axes: for each of both and the color a text and the numbers of the heads; found: whether each stands out
function scatterOf({ heads, folder, scales }, axes, found, describe) {
  const [x, y, color] = axes.map(({ values }) => values);
  const drawn = heads.map((_, head) => head).filter((head) => x[head] !== null && y[head] !== null);
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group" });
  picture.setAttribute("aria-label", `A dot for each head: ${axes.map(({ text }) => text).join(", ")}`);
  if (!drawn.length) return picture;
  const [left, right] = rangeOf(drawn.map((head) => x[head])), [low, high] = rangeOf(drawn.map((head) => y[head]));
  const across = (value) => EDGE + ((value - left) / (right - left)) * (WIDE - EDGE - 12);
  const up = (value) => HIGH - FOOT - ((value - low) / (high - low)) * (HIGH - FOOT - 12);
  const note = (text, attributes) => svg("text", { fill: "currentColor", "font-size": 12, ...attributes }, text);
  const line = (attributes) => svg("line", { stroke: "currentColor", opacity: 0.15, ...attributes });
  for (const tick of ticksBetween(left, right)) {
    picture.append(line({ x1: across(tick), x2: across(tick), y1: 12, y2: HIGH - FOOT }));
    picture.append(note(String(tick), { x: across(tick), y: HIGH - FOOT + 16, "text-anchor": "middle" }));
  }
  for (const tick of ticksBetween(low, high)) {
    picture.append(line({ x1: EDGE, x2: WIDE - 12, y1: up(tick), y2: up(tick) }));
    picture.append(note(String(tick), { x: EDGE - 6, y: up(tick) + 4, "text-anchor": "end" }));
  }
  picture.append(note(axes[0].text, { x: (WIDE + EDGE) / 2, y: HIGH - 8, "text-anchor": "middle" }));
  const turned = `translate(14 ${(HIGH - FOOT) / 2}) rotate(-90)`;
  picture.append(note(axes[1].text, { transform: turned, "text-anchor": "middle" }));
  const known = drawn.map((head) => color[head]).filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const dots = drawn.map((head) => {
    const fill = color[head] === null ? "none" : shadeOf(scales.dots, (color[head] - least) / (most - least || 1));
    const dot = svg("circle", { cx: across(x[head]), cy: up(y[head]), r: 5.5, fill, opacity: found[head] ? 1 : 0.2 });
    const text = describe(head);
    return svg("a", { href: `${folder}${heads[head]}.html`, tabindex: -1, "aria-label": text }, dot, svg("title", {}, text));
  });
  walkable(dots.sort((a, b) => a.firstChild.cx.baseVal.value - b.firstChild.cx.baseVal.value));
  picture.append(...dots);
  return picture;
}

// One stop of the Tab key, from which arrow keys lead to the dots at the left and the right.
function walkable(dots) {
  dots[0].setAttribute("tabindex", 0);
  dots.forEach((dot, place) =>
    dot.addEventListener("keydown", ({ key }) => {
      const other = { ArrowLeft: dots[place - 1], ArrowRight: dots[place + 1] }[key];
      if (!other) return;
      dot.setAttribute("tabindex", -1);
      other.setAttribute("tabindex", 0);
      other.focus();
    }),
  );
}

// A color between hexadecimal ones: scale: [share, color], from 0 to 1
function shadeOf(scale, share) {
  const at = Math.max(1, scale.findIndex(([end]) => end >= share));
  const [[low, from], [high, to]] = [scale[at - 1], scale[at]];
  const parts = (color) => [1, 3, 5].map((start) => parseInt(color.slice(start, start + 2), 16));
  const inner = (share - low) / (high - low || 1);
  return hexOf(parts(from).map((part, place) => part + inner * (parts(to)[place] - part)));
}
