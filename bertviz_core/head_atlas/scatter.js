// Heads in the plane of two of their numbers, colored by a third: each dot leads to the page of its head. elements.js and
// head_map_cells.js, for colors, come before this.

const [MOST_WIDE, EDGE, FOOT, ROOM] = [720, 58, 46, 12]; // of the drawing, and its margins at the left, below, and elsewhere

// Values at which an axis has a number, from the lowest to the highest
function ticksBetween(low, high) {
  const rough = (high - low) / 5 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const first = Math.ceil(low / step), count = Math.floor(high / step) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

// From a number to its place between two ends, and the numbers that an axis shows
function axisOf(values, start, end) {
  const [least, most] = [Math.min(...values), Math.max(...values)], room = 0.04 * (most - least) || 1;
  const [low, high] = [least - room, most + room];
  return { at: (value) => start + ((value - low) / (high - low)) * (end - start), ticks: ticksBetween(low, high) };
}

function note(text, attributes) {
  return svg("text", { fill: "currentColor", "font-size": 12, "text-anchor": "middle", ...attributes }, text);
}

// The lines and the numbers of both axes, with their texts
function gridOf(across, up, texts, wide, high) {
  const line = (ends) => svg("line", { stroke: "currentColor", opacity: 0.15, ...ends });
  const turned = `translate(14 ${(high - FOOT) / 2}) rotate(-90)`;
  const parts = [note(texts[0], { x: (wide + EDGE) / 2, y: high - 8 }), note(texts[1], { transform: turned })];
  for (const tick of across.ticks) {
    const x = across.at(tick);
    parts.push(line({ x1: x, x2: x, y1: ROOM, y2: high - FOOT }), note(tick, { x, y: high - FOOT + 16 }));
  }
  for (const tick of up.ticks) {
    const y = up.at(tick);
    parts.push(line({ x1: EDGE, x2: wide - ROOM, y1: y, y2: y }), note(tick, { x: EDGE - 6, y: y + 4, "text-anchor": "end" }));
  }
  return parts;
}

// axes: for each of both and the color a text and the numbers of the heads; found: whether each stands out; describe: a
// head in words; room: pixels
function scatterOf({ heads, folder, scales }, axes, found, describe, room) {
  const texts = axes.map(({ text }) => text), [x, y, color] = axes.map(({ values }) => values);
  const wide = Math.min(MOST_WIDE, room), high = Math.round(120 + 0.4 * wide);
  const label = `A dot for each head: ${texts.join(", ")}`;
  const picture = svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "group", "aria-label": label });
  const drawn = heads.map((_, head) => head).filter((head) => x[head] !== null && y[head] !== null);
  if (!drawn.length) return picture;
  const across = axisOf(drawn.map((head) => x[head]), EDGE, wide - ROOM);
  const up = axisOf(drawn.map((head) => y[head]), high - FOOT, ROOM);
  const known = color.filter((value) => value !== null), [least, most] = [Math.min(...known), Math.max(...known)];
  const dots = drawn.sort((a, b) => x[a] - x[b]).map((head) => {
    const fill = color[head] === null ? "none" : shadeOf(scales.dots, (color[head] - least) / (most - least || 1));
    const dot = svg("circle", { cx: across.at(x[head]), cy: up.at(y[head]), r: 5.5, fill, opacity: found[head] ? 1 : 0.2 });
    const text = describe(head), link = { href: `${folder}${heads[head]}.html`, tabindex: -1, "aria-label": text };
    return svg("a", link, dot, svg("title", {}, text));
  });
  walkable(dots);
  picture.append(...gridOf(across, up, texts, wide, high), ...dots);
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
