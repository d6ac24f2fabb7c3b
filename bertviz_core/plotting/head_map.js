// The map of heads: layers from left to right, heads from top to bottom. elements.js,
// head_map_cells.js and, for previews and cards, head_map_card.js come before this.

const TALLEST = 34; // of all cells, in heights of a letter
const WIDEST = 2.4, HIGHEST = 1.75; // of a cell, in its own heights and widths: few heads of many layers fill their column
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

class HeadMap {
  constructor() {
    this.picture = svg("svg");
    const saving = button("SVG", () => this.save(), { class: "save", "aria-label": "SVG of the map" });
    this.tip = html("div", { class: "tip", "aria-hidden": "true" }); // the cell's own label says it
    this.card = html("aside", { class: "card" });
    this.map = html("div", { class: "map" }, this.picture, saving, this.tip);
    this.root = html("div", { class: "frame" }, this.map);
    this.cells = new Cells(this);
    this.context = document.createElement("canvas").getContext("2d");
    for (const type of ["pointerover", "pointermove"])
      this.picture.addEventListener(type, (event) => this.describe(this.cells.target(event)));
    this.picture.addEventListener("pointerleave", () => this.describe(null));
    // On the picture itself these would make it a stop of the Tab key.
    this.map.addEventListener("focusin", (event) => this.describe(event.target));
    this.map.addEventListener("focusout", () => this.describe(null));
    this.picture.addEventListener("click", (event) => this.act(this.cells.target(event)));
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.watcher = new ResizeObserver(() => this.map.clientWidth !== this.width && this.show());
    this.watcher.observe(this.map);
  }

  close() {
    this.watcher.disconnect();
  }

  // bytes: an object as JSON in each line
  update(bytes) {
    const lines = new TextDecoder().decode(bytes).split("\n");
    this.data = Object.assign({}, ...lines.map((line) => JSON.parse(line)));
    this.maps = Uint8Array.from(atob(this.data.preview?.maps ?? ""), (letter) => letter.charCodeAt(0));
    if (this.data.cards && !this.card.parentNode) this.root.prepend(this.card);
    this.width = 0;
    this.show();
  }

  // Draw all; outside the page there are no sizes, and the watcher calls this once there are.
  show() {
    if (!this.data || !this.root.isConnected) return;
    this.draw();
    this.showCard(this.data.chosen);
  }

  draw() {
    const { layers, heads, groups, picture, values } = this.data;
    const focused = this.picture.getRootNode().activeElement?.dataset.head;
    this.width = this.map.clientWidth || 420;
    const style = getComputedStyle(this.map);
    this.font = parseFloat(style.fontSize);
    this.context.font = `${style.fontSize} ${style.fontFamily}`;
    this.left = 3.4 * this.font;
    const room = (this.width - this.left - 4) / layers;
    this.drawn = [];
    let y = this.legend(groups);
    const below = (values ? 6.4 : 4.8) * this.font;
    const height = this.data.height ? this.data.height - y - below : TALLEST * this.font; // at most, of all cells
    const cell = Math.min(HIGHEST * room, height / heads, 3.6 * this.font);
    this.across = picture || this.data.cards ? room : Math.min(room, WIDEST * cell);
    const small = Math.max(this.font, Math.min(3.8 * this.font, (27 * this.font) / layers)) + 3; // a picture
    this.down = picture ? Math.max(small, Math.min(HIGHEST * room, (TALLEST * this.font) / (2 * heads))) : cell;
    this.top = y;
    const area = { x: this.left, y, width: layers * this.across, height: heads * this.down, preserveAspectRatio: "none" };
    const pixels = { style: "image-rendering: pixelated", "aria-hidden": "true" };
    if (picture) this.drawn.push(svg("image", { href: picture, ...area, ...pixels }));
    this.drawn.push(...this.cells.draw(focused));
    y = this.axes(y + heads * this.down);
    if (values) y = this.colorBar(y);
    if (this.saving) y = this.origin(y); // on a page the sources stand once, at its end
    const size = { width: this.width, height: y, viewBox: `0 0 ${this.width} ${y}` };
    set(this.picture, { ...size, role: "group", "aria-label": this.data.alt });
    this.picture.replaceChildren(...this.drawn);
    if (focused) this.picture.querySelector(`[data-head="${focused}"]`)?.focus({ preventScroll: true });
  }

  // The legend and, each from a height on, axes, color bar and origin; they return the height at which they end.
  legend(groups) {
    const gap = 1.5 * this.font, line = 1.7 * this.font;
    let x = 4, y = 2;
    for (const group of groups.filter((each) => each.name)) {
      const width = this.measure(group.name) + gap;
      if (x + width > this.width - (y < line ? 3 * this.font : 0) && x > 4) [x, y] = [4, y + line];
      const place = [x + 0.6 * this.font, y + line / 2, 1.15 * this.font];
      this.drawn.push(marker(group, ...place));
      if (group.letter) this.drawn.push(this.cells.letter(group, ...place));
      this.drawn.push(set(this.text(group.name, x + gap, y + line / 2, "start"), { class: "entry" }));
      x += width + this.font;
    }
    return groups.some((each) => each.name) ? y + line + 0.4 * this.font : 1.7 * this.font;
  }

  axes(foot) {
    const { layers, heads, base } = this.data;
    const layerStep = Math.ceil((1.5 * this.font) / this.across), headStep = Math.ceil((1.1 * this.font) / this.down);
    for (let layer = 0; layer < layers; layer += layerStep)
      this.drawn.push(this.text(layer + base, this.left + (layer + 0.5) * this.across, foot + 0.9 * this.font));
    for (let head = 0; head < heads; head += headStep)
      this.drawn.push(this.text(head + base, this.left - 0.5 * this.font, this.top + (head + 0.5) * this.down, "end"));
    const transform = `translate(${0.8 * this.font} ${(this.top + foot) / 2}) rotate(-90)`;
    const middle = this.left + (layers * this.across) / 2;
    this.drawn.push(set(this.text("head", 0, 0), { transform }), this.text("layer", middle, foot + 2.3 * this.font));
    return foot + 3.2 * this.font;
  }

  colorBar(y) {
    const { scale, limits, unit } = this.data, id = `scale-${this.data.name}`.replace(/\W/g, "-");
    const gradient = svg("linearGradient", { id });
    for (const [offset, color] of scale) gradient.append(svg("stop", { offset, "stop-color": hexOf(partsOf(color)), "stop-opacity": partsOf(color)[3] }));
    const x = Math.max(this.left, (0.6 * limits[0].length + 0.4) * this.font), middle = y + 0.6 * this.font; // room for the limit
    const high = `${limits[1]} ${unit}`, room = this.width - this.measure(high) - 0.8 * this.font;
    const width = Math.min(this.left + this.across * this.data.layers, x + 16 * this.font, room) - x;
    this.drawn.push(gradient, svg("rect", { x, y: y + 0.2 * this.font, width, height: 0.8 * this.font, fill: `url(#${id})` }));
    this.drawn.push(this.text(limits[0], x - 0.4 * this.font, middle, "end"));
    this.drawn.push(this.text(high, x + width + 0.4 * this.font, middle, "start"));
    return y + 1.6 * this.font;
  }

  origin(y) {
    const words = this.data.origin.split(" ");
    while (words.length) {
      let line = words.shift();
      while (words.length && 0.92 * this.measure(`${line} ${words[0]}`) <= this.width - 8) line += ` ${words.shift()}`;
      const text = this.text(line, 4, (y += 1.1 * this.font), "start");
      this.drawn.push(set(text, { "font-size": 0.92 * this.font, opacity: 0.75 }));
    }
    return y + 0.7 * this.font;
  }

  text(content, x, y, anchor = "middle") {
    const place = { x, y, "text-anchor": anchor, "dominant-baseline": "central", "font-size": this.font };
    return svg("text", { ...place, fill: "currentColor", "pointer-events": "none" }, content);
  }

  measure(text) {
    return this.context.measureText(text).width;
  }

  describe(target) {
    const cell = target?.closest?.(".point"), { preview, cards, chosen } = this.data;
    if (cell === this.described) return;
    this.described = cell;
    const head = cell?.dataset.head ?? chosen;
    if (cards) return head === this.onCard || this.showCard(head); // a click on a link of the card that stays is not lost
    this.tip.replaceChildren();
    if (!cell) return;
    this.tip.append(html("span", {}, cell.getAttribute("aria-label")));
    const edge = this.left + this.data.layers * this.across + 6, room = this.width - edge; // at the right of all heads
    const beside = room > 11 * this.font;
    this.tip.style.maxWidth = beside ? `${room}px` : "";
    if (preview) {
      const width = Math.min(15, beside ? room / this.font - 0.8 : 15) * this.font;
      this.tip.append(this.lines(cell.dataset.head, width, 1.15 * this.font), html("p", {}, preview.about));
    }
    const [x, y] = [this.left + cell.at[0] * this.across, this.top + cell.at[1] * this.down];
    const { offsetWidth: wide, offsetHeight: high } = this.tip;
    const foot = innerHeight - this.map.getBoundingClientRect().top; // of the window
    const level = y + this.down + 4 + high <= foot ? y + this.down + 4 : y - high - 4;
    this.tip.style.left = `${beside ? edge : Math.max(0, Math.min(x, this.width - wide))}px`;
    this.tip.style.top = `${beside ? Math.max(0, Math.min(y, foot - high - 4)) : level}px`;
  }

  index(head) {
    const [layer, number] = placeOf(head);
    return layer * this.data.heads + number;
  }

  lines(head, width, line) {
    const { preview } = this.data;
    return preview ? previewOf(preview.tokens, this.maps, this.index(head), width, line) : "";
  }

  showCard(head) {
    this.onCard = head;
    const { cards, chosen, links, guesses } = this.data, card = cards?.[this.index(head)];
    const { tokens, part } = this.data.preview ?? { tokens: [] };
    const rows = Math.max(1.15, Math.min(1.5, 22 / tokens.length)); // in letters
    const drawn = (width, font) => this.lines(head, width, rows * font);
    if (card) fillCard(this.card, card, drawn, part, head === chosen ? guesses : null, head === chosen ? links : []);
  }

  act(target) {
    const { head } = target?.closest?.(".point")?.dataset ?? {};
    if (!head) return;
    this.data = { ...this.data, chosen: head, links: [], guesses: null };
    this.draw();
    this.picture.querySelector(`[data-head="${head}"]`).focus({ preventScroll: true });
    this.send("head", head);
  }

  key(event) {
    const step = STEPS[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") this.act(event.target);
    else if (step && event.target.at) {
      const [layer, head] = event.target.at;
      const next = this.cells.move(layer + step[0], head + step[1]);
      if (next) [event.target.tabIndex, next.tabIndex] = [-1, 0];
      next?.focus();
    } else return;
    event.preventDefault();
  }

  save() {
    this.map.style.fontFamily = "sans-serif"; // laid out in the font that the file will be read in
    this.saving = true;
    this.draw();
    const copy = this.picture.cloneNode(true);
    this.map.style.fontFamily = "";
    this.saving = false;
    this.draw();
    set(copy, { color: "#1f2430", "font-family": "sans-serif" });
    for (const cell of copy.querySelectorAll(".point")) cell.append(svg("title", {}, cell.getAttribute("aria-label")));
    copy.prepend(svg("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
    saveSvg(this.data.name, copy);
  }
}

const mount = mounting(HeadMap);
export default mount;
