// The cells of the map of heads: an element for each head. Many heads are one picture, with one element that moves to the
// head that is pointed at or has the focus.

const RING = "#e03131";
const FAINT = 0.15; // opacity of heads that stand back
const MANY = 400; // heads; BERT-large has 384
const PATHS = { // of a marker one unit wide
  circle: "M-.5 0a.5 .5 0 1 0 1 0a.5 .5 0 1 0-1 0z",
  square: "M-.45-.45h.9v.9h-.9z",
  x: "M-.5-.3L-.3-.5 0-.2 .3-.5 .5-.3 .2 0 .5 .3 .3 .5 0 .2-.3 .5-.5 .3-.2 0z",
  diamond: "M0-.62L.62 0 0 .62-.62 0z",
  hexagon: "M-.5-.289L0-.577 .5-.289V.289L0 .577-.5 .289z",
  "triangle-up": "M0-.577L.5 .289H-.5z",
  "triangle-left": "M-.577 0L.289-.5V.5z",
  "triangle-right": "M.577 0L-.289-.5V.5z",
};

class Cells {
  constructor(map) {
    this.map = map;
  }

  // focused: label of the head that had the focus; returns the elements
  draw(focused) {
    const { layers, heads, alt, chosen, groups } = this.map.data;
    this.faint = new Set(this.map.data.faint);
    this.marks = new Map(); // label -> the groups of the head, of which it may have several
    for (const group of groups)
      for (const head of group.heads) this.marks.set(head, [...(this.marks.get(head) ?? []), group]);
    this.stops = this.map.data.scale.map(([share, color]) => [share, partsOf(color)]);
    this.isMany = layers * heads > MANY;
    this.grid = svg("g", { role: "grid", "aria-label": alt, "aria-rowcount": heads, "aria-colcount": layers });
    const [layer, head] = placeOf(chosen);
    const isThere = layer < layers && head < heads;
    if (this.isMany) {
      this.grid.append(svg("g", { role: "row" }));
      this.move(...(focused || isThere ? placeOf(focused ?? chosen) : [0, 0]));
    } else {
      for (let row = 0; row < heads; row++) {
        const cells = Array.from({ length: layers }, (_, column) => this.cell(column, row));
        this.grid.append(svg("g", { role: "row" }, ...cells));
      }
      const first = this.grid.querySelector('[aria-selected="true"]') ?? this.grid.querySelector(".point");
      first.setAttribute("tabindex", 0);
    }
    const line = { fill: "none", stroke: RING, "stroke-width": 3, "pointer-events": "none", class: "ring" };
    const ring = isThere ? [svg("rect", { ...this.box(layer, head), ...line })] : [];
    return this.isMany ? [this.painted(), this.grid, ...ring] : [this.grid, ...ring];
  }

  box(layer, head) {
    const { left, top, across, down } = this.map, [x, y] = [Math.min(1, across / 8), Math.min(1, down / 8)];
    return { x: left + layer * across + x, y: top + head * down + y, width: across - 2 * x, height: down - 2 * y };
  }

  // color and opacity apart: other programs read no rgba() in a file of SVG
  fill(index) {
    const value = this.map.data.values?.[index];
    const parts = value == null ? [255, 255, 255, 0] : this.color(value);
    return { fill: hexOf(parts), "fill-opacity": Number(parts[3].toFixed(3)) };
  }

  // the markers of a head in a row, along the longer side of the cell: the group, the middle and the size of each
  markers(layer, head) {
    const { left, top, across, down } = this.map, groups = this.marks.get(labelOf(layer, head)) ?? [];
    const [short, long] = [Math.min(across, down), Math.max(across, down)];
    const step = Math.min(0.85 * short, (0.94 * long) / groups.length), [right, below] = across < down ? [0, 1] : [1, 0];
    const most = groups.length > 1 ? 0.88 * step : Math.min(0.66 * down, 0.8 * across);
    return groups.map((group, index) => {
      const aside = (index - (groups.length - 1) / 2) * step, size = group.small ? 0.3 * short : Math.min(most, 0.66 * down);
      const [x, y] = [left + (layer + 0.5) * across + right * aside, top + (head + 0.5) * down + below * aside];
      return { group, size, x, y };
    });
  }

  cell(layer, head) {
    const { data } = this.map;
    const label = labelOf(layer, head), index = layer * data.heads + head;
    const cell = svg("g", {
      class: "point", role: "gridcell", tabindex: -1, "data-head": label, "aria-selected": label === data.chosen,
      "aria-label": data.hover[index],
    }, svg("rect", { class: "area", ...this.box(layer, head), ...this.fill(index) }));
    cell.at = [layer, head];
    if (this.faint.has(label)) set(cell, { opacity: FAINT });
    for (const { group, x, y, size } of this.markers(layer, head)) {
      cell.append(marker(group, x, y, size));
      if (group.letter && !this.isMany) cell.append(this.letter(group, x, y, size));
    }
    return cell;
  }

  // the letter on a marker, on the map and in its legend
  letter(group, x, y, size) {
    const fill = isInk(group) ? "var(--st-background-color, #ffffff)" : "#ffffff";
    const least = 0.92 * this.map.font; // what can be read
    const font = { fill, "font-weight": 600, "font-size": Math.max(least, Math.min(this.map.font, 0.62 * size)) };
    return set(this.map.text(group.letter, x, y), font);
  }

  color(value) {
    const at = Math.max(1, this.stops.findIndex(([share]) => share >= value));
    const [[low, from], [high, to]] = [this.stops[at - 1], this.stops[at]];
    const share = (value - low) / (high - low || 1);
    return from.map((part, i) => part + share * (to[i] - part));
  }

  // all cells as one picture
  painted() {
    const { left, top, across, down, data } = this.map, { layers, heads } = data;
    const size = { width: layers * across, height: heads * down }, ratio = window.devicePixelRatio || 1;
    const canvas = html("canvas", { width: Math.ceil(size.width * ratio), height: Math.ceil(size.height * ratio) });
    const context = canvas.getContext("2d"), text = getComputedStyle(this.map.map).color;
    for (let layer = 0; layer < layers; layer++)
      for (let head = 0; head < heads; head++) {
        const { x, y, width, height } = this.box(layer, head);
        context.setTransform(ratio, 0, 0, ratio, -left * ratio, -top * ratio);
        const { fill, "fill-opacity": opacity } = this.fill(layer * heads + head);
        const shown = this.faint.has(labelOf(layer, head)) ? FAINT : 1;
        [context.fillStyle, context.globalAlpha] = [fill, opacity * shown];
        context.fillRect(x, y, width, height);
        context.globalAlpha = 1;
        for (const { group, x, y, size } of this.markers(layer, head)) {
          context.setTransform(ratio * size, 0, 0, ratio * size, (x - left) * ratio, (y - top) * ratio);
          context.fillStyle = isInk(group) ? text : group.color;
          context.fill(new Path2D(PATHS[group.symbol]));
        }
      }
    return svg("image", { href: canvas.toDataURL(), x: left, y: top, ...size, class: "cells", preserveAspectRatio: "none" });
  }

  // the cell that an event is about
  target(event) {
    if (!event.target.classList.contains("cells")) return event.target;
    const [x, y] = [event.clientX, event.clientY].map(Math.floor); // of a click they are whole numbers
    const pointer = `${x} ${y}`;
    if (event.type !== "click" && pointer === this.pointer) return this.grid.firstChild.firstChild; // a key moved the cell
    this.pointer = pointer;
    const { left, top, across, down, picture, width } = this.map, frame = picture.getBoundingClientRect();
    const scale = width / frame.width;
    const layer = Math.floor(((x - frame.left) * scale - left) / across);
    return this.move(layer, Math.floor(((y - frame.top) * scale - top) / down));
  }

  // the cell of a head, null outside the map; of many heads the only element moves there
  move(layer, head) {
    const { layers, heads } = this.map.data;
    if (!this.isMany) return this.grid.querySelector(`[data-head="${labelOf(layer, head)}"]`);
    if (layer < 0 || head < 0 || layer >= layers || head >= heads) return null;
    const row = this.grid.firstChild, before = row.firstChild;
    const hadFocus = before && before === before.getRootNode().activeElement;
    const cell = set(this.cell(layer, head), { tabindex: 0, "aria-rowindex": head + 1, "aria-colindex": layer + 1 });
    row.replaceChildren(cell);
    if (hadFocus) cell.focus({ preventScroll: true });
    return cell;
  }
}

// Whether a marker has the color of the text, so that it is as visible on a dark page.
function isInk({ color }) {
  return color === "#000000";
}

function marker(group, x, y, size) {
  const fill = isInk(group) ? "currentColor" : group.color;
  return svg("path", { d: PATHS[group.symbol], transform: `translate(${x} ${y}) scale(${size})`, fill });
}

// red, green, blue and opacity of a color as rgba()
function partsOf(color) {
  return color.match(/[\d.]+/g).map(Number);
}

function hexOf([...parts]) {
  return `#${parts.slice(0, 3).map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

function labelOf(layer, head) {
  return `${layer + 1}-${head + 1}`;
}

function placeOf(label) {
  return label.split("-").map((part) => part - 1);
}
