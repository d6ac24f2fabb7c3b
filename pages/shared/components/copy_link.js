// Copies the address of the page, which has all that is chosen, and the frame in which other sites may show it.

const SAID = 2500; // ms for which a button says what came of it

// Without a secure connection, and in a frame, a browser gives pages no clipboard of their own.
function copySelected(text) {
  const area = document.body.appendChild(html("textarea", { readonly: "" }, text));
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

function copyText(text) {
  return (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(() => true, () => copySelected(text));
}

function frame() {
  const attributes = { src: addressForOthers(), title: pageTitle().textContent, width: "100%", height: "720", loading: "lazy", style: "border: 0" };
  return html("iframe", { ...attributes, allow: "clipboard-write; fullscreen" }).outerHTML;
}

class CopyLink {
  constructor() {
    this.timers = new Map();
    this.root = html("div", { class: "copy", "aria-live": "polite" });
  }

  update({ icons, sites, copied }) {
    const drawn = JSON.stringify([icons, sites, copied]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.root.classList.toggle("icons", icons);
    const link = { name: "Copy link", icon: "link", title: "Copy link", text: addressForOthers };
    const embed = { name: "Embed", icon: "code", title: `Copy a frame of this page, which pages of ${sites} may show`, text: frame };
    this.root.replaceChildren(...(sites ? [link, embed] : [link]).map((each) => this.button(each, icons, copied)));
  }

  close() {
    this.timers.forEach(clearTimeout);
  }

  button({ name, icon, title, text }, isIcon, copied) {
    const label = isIcon ? html("span", { class: "icon", "aria-hidden": "true" }, icon) : name;
    const copy = button(label, async () => {
      copy.replaceChildren((await copyText(text())) ? copied : "The browser allows no copy");
      copy.removeAttribute("aria-label"); // What came of it is its name for a moment.
      clearTimeout(this.timers.get(copy));
      this.timers.set(copy, setTimeout(() => set(copy, { "aria-label": name }).replaceChildren(label), SAID));
    }, { title, "aria-label": name });
    return copy;
  }
}

export default mounting(CopyLink);
