// The attention of a head, or of several in color, as lines between two columns of tokens; elements.js comes before this.

const FAINT = 0.005; // a line this light cannot be seen
const AROUND = 170; // pixels of the whole screen above and below the rows
const ABOVE = 290; // pixels of a page above and below the rows of a sentence, which fit into the rest
const LEVELS = 48; // lines of like darkness are one path
const INK = "#1f2430", RED = "#e03131"; // in files; a page has its theme's

class Lines {
  constructor() {
    this.pins = new Set();
    this.pending = null; // pins on their way to the address
    this.hover = null; // the row under the pointer, or else the one with the keyboard's focus, is isolated
    this.current = null; // the row that was last focused: what the mask button acts on
    this.mask = button("Mask", () => this.send("mask", this.current.start));
    this.clear = button("Clear pins", () => this.setPins([]));
    const paper = { title: "The current drawing, dark on white, for print" };
    const svgFile = button("SVG", () => saveSvg(this.data.name, this.onPaper()), paper);
    const pngFile = button("PNG", () => savePng(this.data.name, this.onPaper()), paper);
    this.full = button("Full screen", () => (this.isFull() ? document.exitFullscreen() : this.root.requestFullscreen()));
    const bar = html("div", { class: "bar" }, this.mask, this.clear, svgFile, pngFile, this.full);
    this.heading = html("div", { class: "heading" });
    this.status = html("div", { class: "status", role: "status" });
    this.legend = html("div", { class: "legend" });
    const roles = { role: "listbox", "aria-multiselectable": "true" };
    const column = (side) => html("ul", { class: `column ${side}`, "aria-label": side, ...roles });
    this.columns = { from: column("from"), to: column("to") };
    this.drawing = svg("svg", { class: "drawing", "aria-hidden": "true", fill: "none", preserveAspectRatio: "none" });
    const heads = [html("div", { class: "head from" }, "from"), html("div"), html("div", { class: "head" }, "to")];
    const stage = html("div", { class: "stage" }, ...heads, this.columns.from, this.drawing, this.columns.to);
    this.root = html("div", { class: "lines" }, this.heading, this.status, this.legend, stage, bar);
    stage.addEventListener("pointerover", (event) => this.point(rowOf(event)));
    stage.addEventListener("pointerleave", () => this.point(null));
    stage.addEventListener("click", (event) => rowOf(event) && this.toggle(rowOf(event)));
    stage.addEventListener("focusin", (event) => this.focused(rowOf(event)));
    stage.addEventListener("focusout", () => this.show());
    stage.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("keydown", (event) => this.step(event));
    this.root.addEventListener("fullscreenchange", () => this.resized());
  }

  update(data) {
    const before = this.data;
    this.data = data;
    this.heads = data.heads.map(unpacked);
    this.several = this.heads.length > 1;
    const entry = ({ label, color }) => html("span", { style: `--head: ${color}` }, html("i", { class: "square" }), label);
    this.heading.replaceChildren(html("strong", {}, data.heading ?? data.title), html("span", {}, data.sentence ?? ""));
    this.legend.replaceChildren(...(this.several ? this.heads.map(entry) : []));
    // Pins come from the address too: of another drawing of the same sentence. What this reader has just pinned stays
    // until the address has it.
    if (before?.text !== data.text || this.pending === null || this.pending === String(data.pins)) {
      this.pending = null;
      this.pins = new Set(data.pins);
    }
    const shown = (given) => JSON.stringify([given?.from, given?.to, given?.heads.map((head) => head.color)]);
    if (shown(before) !== shown(data)) this.fill();
    this.show();
  }

  fill() {
    const active = this.root.getRootNode().activeElement?.row;
    this.rows = { from: [], to: [] };
    const count = Math.max(this.data.from.length, this.data.to.length);
    const [height, letters] = this.sizes(count);
    this.root.style.setProperty("--row", `${height}px`);
    this.root.style.setProperty("--size", `${letters}px`);
    this.root.style.setProperty("--room", `${this.several ? this.heads.length * 0.65 + 0.6 : 2.5}em`);
    this.high = height * count;
    set(this.drawing, { height: this.high, viewBox: `0 0 1 ${this.high}`, "stroke-width": height > 16 ? 2 : 1.4 });
    for (const side of ["from", "to"]) {
      this.columns[side].replaceChildren();
      this.data[side].forEach((unit, at) => this.addRow(side, unit, at, (at + 0.5) * height));
    }
    const all = [...this.rows.from, ...this.rows.to];
    const same = (row) => row.side === active?.side && row.start === active?.start;
    all.find(same)?.element.focus({ preventScroll: true });
    this.hover = null;
    this.current = all.find((row) => row.start === this.current?.start) ?? null;
  }

  // The height of a row and of its letters, in pixels; the rows of a short text fit the window, and fill the screen.
  sizes(count) {
    if (!this.isFull()) {
      const low = count <= 26 ? 19 : count <= 50 ? 18 : 16, high = count <= 26 ? 26 : count <= 50 ? 21 : 16;
      const height = Math.max(low, Math.min(high, Math.floor((innerHeight - ABOVE) / count)));
      return [height, height > 22 ? 14 : height > 16 ? 13 : 11.5];
    }
    const height = Math.max(16, Math.min(40, (innerHeight - AROUND) / count));
    return [height, Math.min(24, height * 0.78)];
  }

  addRow(side, unit, at, middle) {
    const kind = ["special", "masked", "found", "beyond"].filter((name) => unit[name]).join(" ");
    const square = ({ color }) => html("i", { class: "square", style: `--head: ${color}` });
    const squares = html("span", { class: "squares", "aria-hidden": "true" }, ...(this.several ? this.heads.map(square) : []));
    const roles = { role: "option", tabindex: at ? "-1" : "0", title: unit.label };
    const element = html("li", { class: kind, ...roles }, html("bdi", {}, unit.label), squares);
    element.row = { side, at, middle, element, pin: side + (unit.start + 1), ...unit };
    this.columns[side].append(element);
    this.rows[side].push(element.row);
  }

  // --- what the reader does

  isFull() {
    return this.root.matches(":fullscreen");
  }

  resized() {
    this.full.textContent = this.isFull() ? "Leave full screen" : "Full screen";
    this.fill();
    this.show();
  }

  // On the whole screen there is no other choice of a head.
  step(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (!this.isFull() || !(event.key in steps)) return;
    event.preventDefault();
    this.send("step", steps[event.key]);
  }

  point(row) {
    this.hover = row;
    this.show();
  }

  focused(row) {
    if (!row) return;
    this.current = row;
    for (const other of this.rows[row.side]) other.element.tabIndex = other === row ? 0 : -1;
    this.show();
  }

  toggle(row) {
    row.element.focus({ preventScroll: true });
    const others = [...this.pins].filter((pin) => pin !== row.pin);
    this.setPins(this.pins.has(row.pin) ? others : [...others, row.pin]);
  }

  setPins(pins) {
    this.pins = new Set(pins);
    this.pending = String(pins);
    this.show();
    this.send("pins", pins);
  }

  key(event) {
    const row = rowOf(event);
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const { from, to } = this.rows;
    const list = this.rows[row.side];
    const goals = {
      ArrowDown: list[row.at + 1],
      ArrowUp: list[row.at - 1],
      Home: list[0],
      End: list.at(-1),
      ArrowLeft: row.side === "to" && !this.isFull() && from[Math.min(row.at, from.length - 1)],
      ArrowRight: row.side === "from" && !this.isFull() && to[Math.min(row.at, to.length - 1)],
    };
    if (event.key in goals) {
      this.hover = null;
      if (goals[event.key]) goals[event.key].element.focus();
    } else if (event.key === "Enter" || event.key === " ") this.toggle(row);
    else if (event.key === "m" && this.canMask(row)) this.send("mask", row.start);
    else if (event.key === "Escape") this.setPins([]);
    else return;
    event.preventDefault();
  }

  canMask(row) {
    return this.data.canMask && row && !row.special;
  }

  // --- what the reader sees

  alone() {
    const element = this.root.getRootNode().activeElement;
    return this.hover ?? (element?.matches?.("li:focus-visible") ? element.row : null);
  }

  show() {
    const alone = this.alone();
    for (const side of ["from", "to"]) {
      for (const row of this.rows[side]) {
        const weights = this.heads.map((head) => (alone && alone.side !== side ? this.between(alone, row, head) : 0));
        const weight = this.several ? 0 : weights[0]; // squares say those of several heads
        row.element.style.setProperty("--weight", weight >= this.data.minWeight ? weight.toFixed(3) : 0);
        row.element.dataset.weight = weight >= FAINT ? weight.toFixed(2) : "";
        [...row.element.lastChild.children].forEach((square, index) => (square.style.opacity = weights[index]));
        row.element.classList.toggle("here", row === alone);
        row.element.setAttribute("aria-selected", this.pins.has(row.pin));
      }
    }
    this.mask.hidden = !this.data.canMask; // a model that cannot guess a masked word has no such button
    this.mask.disabled = !this.canMask(this.current);
    this.mask.textContent = this.current
      ? `${this.current.masked ? "Unmask" : "Mask"} “${isolated(this.current.label.slice(0, 20))}”`
      : "Mask a token";
    this.clear.disabled = !this.pins.size;
    this.status.textContent = alone ? this.sentence(alone) : this.hint();
    this.drawing.replaceChildren(...this.paths(0, 1));
  }

  // What a mouse and keys do; what a finger does where there are none.
  hint() {
    if (matchMedia("(hover: none)").matches) return "Tap a token to pin its lines.";
    const heads = this.isFull() ? " ← and →: other heads." : "";
    return `Hover: one token's lines. Click or Enter: pin.${this.data.canMask ? " M: mask." : ""}${heads}`;
  }

  between(row, other, head) {
    const [from, to] = row.side === "from" ? [row, other] : [other, row];
    return head.weights[from.at * this.data.to.length + to.at];
  }

  sentence(row) {
    const named = (head) => `${head.label.replace("Head ", "")}: ${this.best(row, head, 1)}`;
    const parts = this.several ? this.heads.map(named) : [this.best(row, this.heads[0], 4)];
    return `${isolated(row.label.slice(0, 30))} ${row.side === "from" ? "→" : "←"} ${parts.join("; ")}`;
  }

  best(row, head, count) {
    const others = this.rows[row.side === "from" ? "to" : "from"];
    const ranked = others.map((other) => [this.between(row, other, head), other]).sort((a, b) => b[0] - a[0]);
    const seen = ranked.filter(([weight], rank) => !rank || weight >= FAINT).slice(0, count);
    return seen.map(([weight, other]) => `${isolated(other.label.slice(0, 20))} ${weight.toFixed(2)}`).join(", ");
  }

  // The lines to be drawn now, from x = left to right, those of like darkness as one path, red ones on top. Of several
  // heads each has its color, and pins dim the rest.
  paths(left, right, top = 0) {
    const alone = this.alone(), paths = new Map();
    for (const head of this.heads)
      for (const from of this.rows.from)
        for (const to of this.rows.to) {
          const weight = this.between(from, to, head);
          if (weight < Math.max(this.data.minWeight, FAINT)) continue;
          if (alone && alone !== from && alone !== to) continue;
          const pinned = this.pins.has(from.pin) || this.pins.has(to.pin), red = pinned && !head.color;
          const level = Math.max(1, Math.ceil((pinned || alone || !this.pins.size ? weight : weight * 0.15) * LEVELS));
          const stroke = head.color ?? (red ? RED : "currentColor"), key = `${stroke} ${level}`;
          if (!paths.has(key)) paths.set(key, { red, level, stroke, d: "" });
          paths.get(key).d += `M${left} ${top + from.middle}L${right} ${top + to.middle}`;
        }
    const sorted = [...paths.values()].sort((a, b) => a.red - b.red || a.level - b.level);
    const look = ({ red, level, ...drawn }) => ({ ...drawn, class: red ? "red" : "", "stroke-opacity": level / LEVELS });
    return sorted.map((path) => svg("path", look(path)));
  }

  // The lines that are drawn now, as an SVG that stands by itself.
  onPaper() {
    const [column, between] = [190, 260], [width, top] = [2 * column + between, this.several ? 42 : 24];
    const height = this.high + top + 10;
    const look = { color: INK, "stroke-width": 1.6, "font-family": "sans-serif", "font-size": 13 };
    const text = (x, y, anchor, fill, label) =>
      svg("text", { x, y, "text-anchor": anchor, fill, "unicode-bidi": "isolate" }, label);
    const drawn = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, ...look });
    drawn.append(svg("rect", { width, height, fill: "#fff" }), text(width / 2, 16, "middle", INK, this.data.title));
    const step = width / (this.heads.length + 1);
    const legend = ({ label, color }, index) => text(step * (index + 1), 34, "middle", color, label);
    drawn.append(...(this.several ? this.heads.map(legend) : []), ...this.paths(column, column + between, top));
    for (const row of [...this.rows.from, ...this.rows.to]) {
      const [x, anchor] = row.side === "from" ? [column - 8, "end"] : [column + between + 8, "start"];
      const label = row.label.length > 24 ? row.label.slice(0, 23) + "…" : row.label;
      const color = this.pins.has(row.pin) ? RED : row.special ? "#6b7280" : INK;
      drawn.append(text(x, top + row.middle + 4, anchor, color, label));
    }
    return drawn;
  }
}

const mount = mounting(Lines);
export default mount;

function unpacked({ label, color, weights }) {
  const bytes = Uint8Array.from(atob(weights), (c) => c.charCodeAt(0));
  return { label, color, weights: Float32Array.from(new Uint16Array(bytes.buffer), (v) => v / 65535) };
}

function rowOf(event) {
  return event.target.closest?.("li")?.row ?? null;
}

// Letters that run from right to left would otherwise carry along the numbers beside them.
function isolated(text) {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;
}
