// One head's attention as lines between two columns of tokens; elements.js and attention_lines_drawing.js come before this.

const FAINT = 0.005; // a line this light cannot be seen

class Lines {
  constructor() {
    this.pins = new Set();
    this.pending = null; // pins on their way to the address
    this.hover = null; // the row under the pointer, or else the one with the keyboard's focus, is isolated
    this.current = null; // the row that was last focused: what the mask button acts on
    this.mask = button("Mask", () => this.send("mask", this.current.start));
    this.clear = button("Clear pins", () => this.setPins([]));
    const paper = { title: "The current drawing, dark on white, for print" };
    const svgFile = button("SVG", () => saveSvg(this.data.name, onPaper(this)), paper);
    const pngFile = button("PNG", () => savePng(this.data.name, onPaper(this)), paper);
    const full = () => (document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen());
    const bar = html("div", { class: "bar" }, this.mask, this.clear, svgFile, pngFile, button("Full screen", full));
    this.status = html("div", { class: "status", role: "status" });
    this.legend = html("div", { class: "legend" });
    this.columns = {};
    for (const side of ["from", "to"]) {
      const roles = { role: "listbox", "aria-multiselectable": "true", "aria-label": side };
      this.columns[side] = html("ul", { class: `column ${side}`, ...roles });
    }
    this.canvas = html("canvas", { "aria-hidden": "true" });
    const heads = [html("div", { class: "head from" }, "from"), html("div"), html("div", { class: "head" }, "to")];
    const stage = html("div", { class: "stage" }, ...heads, this.columns.from, this.canvas, this.columns.to);
    this.root = html("div", { class: "lines" }, this.status, this.legend, stage, bar);
    stage.addEventListener("pointerover", (event) => this.point(rowOf(event)));
    stage.addEventListener("pointerleave", () => this.point(null));
    stage.addEventListener("click", (event) => rowOf(event) && this.toggle(rowOf(event)));
    stage.addEventListener("focusin", (event) => this.focused(rowOf(event)));
    stage.addEventListener("focusout", () => this.show());
    stage.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("transitionend", () => onCanvas(this));
    this.watcher = new ResizeObserver(() => this.rows && this.show());
    this.watcher.observe(this.canvas);
  }

  close() {
    this.watcher.disconnect();
  }

  update(data) {
    const before = this.data;
    this.data = data;
    this.heads = (data.overlay?.length ? data.overlay : [{ weights: data.weights }]).map(unpacked);
    const entry = ({ label, color }) => html("span", { style: `--head: ${color}` }, html("i", { class: "square" }), label);
    this.legend.replaceChildren(...this.named().map(entry));
    // Pins come from the address too: of another drawing of the same sentence. What this reader has just pinned stays
    // until the address has it.
    if (before?.text !== data.text || this.pending === null || this.pending === String(data.pins)) {
      this.pending = null;
      this.pins = new Set(data.pins);
    }
    const shown = (given) => JSON.stringify([given?.from, given?.to, given?.overlay?.map((head) => head.color)]);
    if (shown(before) !== shown(data)) this.fill();
    this.show();
  }

  fill() {
    const active = this.root.getRootNode().activeElement?.row;
    this.rows = { from: [], to: [] };
    const count = Math.max(this.data.from.length, this.data.to.length);
    const [height, size] = count <= 26 ? [26, 14] : count <= 50 ? [21, 13] : [16, 11.5];
    this.root.style.setProperty("--row", `${height}px`);
    this.root.style.setProperty("--size", `${size}px`);
    this.root.style.setProperty("--room", `${this.named().length ? this.named().length * 0.65 + 0.6 : 2.5}em`);
    this.canvas.style.height = `${height * count}px`;
    this.height = height;
    for (const side of ["from", "to"]) {
      this.columns[side].replaceChildren();
      this.data[side].forEach((unit, at) => this.addRow(side, unit, at));
    }
    const all = [...this.rows.from, ...this.rows.to];
    const same = (row) => row.side === active?.side && row.start === active?.start;
    all.find(same)?.element.focus({ preventScroll: true });
    this.hover = null;
    this.current = all.find((row) => row.start === this.current?.start) ?? null;
  }

  addRow(side, unit, at) {
    const kind = (unit.special ? "special " : "") + (unit.masked ? "masked" : "");
    const colored = this.named().map(({ color }) => html("i", { class: "square", style: `--head: ${color}` }));
    const squares = html("span", { class: "squares", "aria-hidden": "true" }, ...colored);
    const roles = { role: "option", tabindex: at ? "-1" : "0", title: unit.label };
    const element = html("li", { class: kind, ...roles }, html("bdi", {}, unit.label), squares);
    element.row = { side, at, element, ...unit };
    this.columns[side].append(element);
    this.rows[side].push(element.row);
  }

  // --- what the reader does

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
    const name = row.side + (row.start + 1);
    this.setPins(this.pins.has(name) ? [...this.pins].filter((pin) => pin !== name) : [...this.pins, name]);
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
      ArrowLeft: row.side === "to" && from[Math.min(row.at, from.length - 1)],
      ArrowRight: row.side === "from" && to[Math.min(row.at, to.length - 1)],
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

  // of several heads, those that have a color
  named() {
    return this.heads.filter((head) => head.color);
  }

  pinned(row) {
    return this.pins.has(row.side + (row.start + 1));
  }

  show() {
    const alone = this.alone();
    for (const side of ["from", "to"]) {
      for (const row of this.rows[side]) {
        const weights = this.heads.map((head) => (alone && alone.side !== side ? this.between(alone, row, head) : 0));
        const weight = this.named().length ? 0 : weights[0]; // squares say those of several heads
        row.element.style.setProperty("--weight", weight >= this.data.minWeight ? weight.toFixed(3) : 0);
        row.element.dataset.weight = weight >= FAINT ? weight.toFixed(2) : "";
        [...row.element.lastChild.children].forEach((square, index) => (square.style.opacity = weights[index]));
        row.element.classList.toggle("here", row === alone);
        row.element.setAttribute("aria-selected", this.pinned(row));
      }
    }
    this.mask.disabled = !this.canMask(this.current);
    this.mask.textContent = this.current
      ? `${this.current.masked ? "Unmask" : "Mask"} “${isolated(this.current.label.slice(0, 20))}”`
      : "Mask a token";
    this.clear.disabled = !this.pins.size;
    this.status.textContent = alone ? this.sentence(alone) : this.hint();
    onCanvas(this);
  }

  between(row, other, head) {
    const [from, to] = row.side === "from" ? [row, other] : [other, row];
    return head.weights[from.at * this.data.to.length + to.at];
  }

  sentence(row) {
    const several = this.named().length;
    const parts = this.heads.map((head) => (several ? `${head.label.replace("Head ", "")}: ` : "") + this.best(row, head, several ? 1 : 4));
    return `${isolated(row.label.slice(0, 30))} ${row.side === "from" ? "→" : "←"} ${parts.join("; ")}`;
  }

  best(row, head, count) {
    const others = this.rows[row.side === "from" ? "to" : "from"];
    const ranked = others.map((other) => [this.between(row, other, head), other]).sort((a, b) => b[0] - a[0]);
    const seen = ranked.filter(([weight], rank) => !rank || weight >= FAINT).slice(0, count);
    return seen.map(([weight, other]) => `${isolated(other.label.slice(0, 20))} ${weight.toFixed(2)}`).join(", ");
  }

  hint() {
    return "Hover: one token's lines. Click or Enter: pin." + (this.data.canMask ? " M: mask." : "");
  }

  // [from, to, weight, red, color] of every line to be drawn now; of several heads each has its color, and pins dim the rest
  *lines() {
    const alone = this.alone();
    for (const head of this.heads)
      for (const a of this.rows.from)
        for (const b of this.rows.to) {
          const weight = head.weights[a.at * this.data.to.length + b.at];
          if (weight < Math.max(this.data.minWeight, FAINT)) continue;
          if (alone && alone !== a && alone !== b) continue;
          const pinned = this.pinned(a) || this.pinned(b);
          yield [a.at, b.at, pinned || alone || !this.pins.size ? weight : weight * 0.15, pinned && !head.color, head.color];
        }
  }

  middle(at) {
    return (at + 0.5) * this.height;
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
