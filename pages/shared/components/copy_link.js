// Copies the address of the page, which has all that is chosen.

const SAID = 2500; // ms for which the button says what came of it

// Without a secure connection a browser gives pages no clipboard of its own.
function copySelected(text) {
  const area = document.body.appendChild(html("textarea", { readonly: "" }, text));
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

class CopyLink {
  constructor() {
    this.button = button("Copy link", () => this.copy());
    this.root = html("div", { class: "copy", "aria-live": "polite" }, this.button);
  }

  update() {}

  close() {
    clearTimeout(this.timer);
  }

  async copy() {
    const copied = await (navigator.clipboard?.writeText(location.href) ?? Promise.reject()).then(() => true, () => copySelected(location.href));
    this.button.textContent = copied ? "Copied" : "Copy the address above";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.button.textContent = "Copy link"), SAID);
  }
}

export default mounting(CopyLink);
