// The field of an expression that finds heads: while it is typed, names that complete it, and how many heads it finds.

const PAUSE = 250; // ms without a key after which the heads are counted
const HINT = "A name, a sign such as >, and a number; several are joined by and, or, not";
const MOST = 8; // names that are offered at once
const UNFINISHED = /^.*(?:^|[<>=!()≤≥≠]|\b(?:and|or|not)\b)\s*([^<>=!()≤≥≠]*)$/i; // the name before the cursor

class Finder {
  constructor() {
    this.input = html("input", { type: "text", role: "combobox", "aria-label": "Find heads", "aria-expanded": "false", "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false" });
    this.count = html("p", { role: "status" });
    this.list = html("ul", { role: "listbox", "aria-label": "Names", id: "names" });
    this.box = html("div", { class: "offer", hidden: "" }, this.count, this.list);
    this.root = html("div", { class: "finder" }, this.input, this.box);
    set(this.input, { "aria-controls": "names" });
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("focus", () => this.offer());
    this.input.addEventListener("click", () => this.offer());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.enter());
    this.box.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  }

  update(data) {
    this.data = data;
    set(this.input, { placeholder: data.example, maxlength: data.longest });
    if (data.text !== this.entered) this.input.value = this.entered = data.text;
    if (data.typed === this.input.value) this.count.textContent = data.count || HINT;
  }

  close() {
    clearTimeout(this.timer);
  }

  typed() {
    this.offer();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send("typed", this.input.value), PAUSE);
  }

  // What stands before the cursor of the name that is being written; null inside a number or after one.
  written() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    const name = UNFINISHED.exec(before)?.[1] ?? "";
    return /^[\d.-]/.test(name) || (!name && before.trim() && !/(?:and|or|not|\()\s*$/i.test(before)) ? null : name;
  }

  names() {
    const written = this.written()?.toLowerCase().replace(/[\W_]+/g, " ").trim();
    if (written === undefined) return [];
    const rank = ({ name, title, words }) => {
      const places = [name.toLowerCase().replace(/[\W_]+/g, " ").trim(), ...words.split(" | "), title.toLowerCase()];
      if (places[0].startsWith(written)) return 0;
      if (places.some((place) => place.startsWith(written))) return 1;
      return places.some((place) => ` ${place}`.includes(` ${written}`)) ? 2 : 3;
    };
    const ranked = this.data.names.map((name) => [rank(name), name]).filter(([value]) => value < 3);
    return ranked.sort(([a], [b]) => a - b).slice(0, MOST).map(([, name]) => name);
  }

  offer(active = -1) {
    this.offered = this.names();
    this.active = active = Math.min(active, this.offered.length - 1);
    const options = this.offered.map(({ name, title, range }, index) => {
      const option = html("li", { role: "option", id: `name-${index}`, "aria-selected": index === active }, html("b", {}, name), html("span", {}, title), html("small", {}, range));
      option.addEventListener("click", () => this.complete(index));
      return option;
    });
    this.list.replaceChildren(...options);
    set(this.input, { "aria-activedescendant": active < 0 ? "" : `name-${active}` });
    if (!this.input.value.trim()) this.count.textContent = HINT;
    this.open(true);
  }

  open(is) {
    this.box.hidden = !is;
    set(this.input, { "aria-expanded": is });
  }

  complete(index) {
    const { value, selectionStart } = this.input, length = this.written().length;
    const before = value.slice(0, selectionStart - length), after = value.slice(selectionStart);
    const name = `${before && !/[\s(]$/.test(before) ? `${before} ` : before}${this.offered[index].name} `;
    this.input.value = name + (/^\s*[<>=!≤≥≠]/.test(after) ? after.trimStart() : `> ${after}`);
    const end = name.length + (after ? 0 : 2);
    this.input.setSelectionRange(end, end);
    this.typed();
  }

  key(event) {
    const { key } = event, last = this.offered.length - 1;
    event.stopPropagation(); // letters are no shortcuts here
    if (key === "ArrowDown") this.offer(this.active < last ? this.active + 1 : 0);
    else if (key === "ArrowUp") this.offer(this.active > 0 ? this.active - 1 : last);
    else if (key === "Enter" && this.active < 0) this.enter();
    else if ((key === "Enter" || key === "Tab") && this.active >= 0 && !this.box.hidden) this.complete(this.active);
    else if (key === "Escape") this.open(false);
    else return;
    event.preventDefault();
  }

  // Show the heads of the expression.
  enter() {
    clearTimeout(this.timer);
    this.open(false);
    if (this.input.value === this.entered) return;
    this.entered = this.input.value;
    this.send("find", this.entered);
  }
}

export default mounting(Finder);
