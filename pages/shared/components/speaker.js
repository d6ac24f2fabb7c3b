// The lecturer's own window: the slide that is shown, its notes, what comes next, and a clock. The arrow keys and A work
// there as on the slide.

const NAME = "speaker"; // of the window, which is found again by it
const STYLE = `
  body { margin: 0; padding: 1.2rem 1.6rem; font: 1.15rem/1.5 sans-serif; }
  header { display: flex; justify-content: space-between; gap: 1rem; font-size: 1rem; opacity: 0.8; }
  h1 { font-size: 1.6rem; margin: 0.6rem 0; } h2 { font-size: 1rem; opacity: 0.8; margin: 1.4rem 0 0.2rem; font-weight: normal; }
  p { margin: 0.4rem 0; max-width: 44rem; } strong { display: block; }`;
let opened = null; // shared by the views: the button stands elsewhere while a slide stands alone
let since = 0; // when it was opened
let ticking = 0;

const two = (number) => String(number).padStart(2, "0");

function time() {
  const seconds = Math.floor((Date.now() - since) / 1000), now = new Date();
  return `${two(now.getHours())}:${two(now.getMinutes())} · ${Math.floor(seconds / 60)}:${two(seconds % 60)} since the start`;
}

class Speaker {
  constructor() {
    this.button = button("Speaker view", () => this.open());
    this.root = html("div", { class: "speaker" }, this.button);
    this.listeners = new AbortController();
    document.addEventListener("keydown", (event) => this.key(event), { signal: this.listeners.signal });
  }

  update(data) {
    this.data = data;
    set(this.button, { title: `A window for the lecturer: notes, the next question, a clock${data.alone ? " (N)" : ""}` });
    if (opened && !opened.closed) this.draw();
  }

  close() {
    this.listeners.abort();
  }

  key({ key, ctrlKey, metaKey, altKey, target }) {
    const types = target.closest?.("input, textarea, [contenteditable]");
    if (this.data.alone && key.toLowerCase() === "n" && !ctrlKey && !metaKey && !altKey && !types) this.open();
  }

  open() {
    if (!opened || opened.closed) since = Date.now();
    opened = window.open("", NAME, "popup,width=760,height=620");
    if (!opened) {
      this.button.textContent = "Allow pop-ups for the speaker view";
      return;
    }
    this.button.textContent = "Speaker view";
    opened.onkeydown = (event) => this.turn(event);
    clearInterval(ticking);
    ticking = setInterval(() => (opened.closed ? clearInterval(ticking) : (opened.document.querySelector("time").textContent = time())), 1000);
    this.draw();
    opened.focus();
  }

  turn({ key }) {
    const { here, slides } = this.data, next = here + ({ ArrowRight: 1, ArrowLeft: -1 }[key] ?? 0);
    if (next !== here && slides[next]) this.send("step", next);
    if (key.toLowerCase() === "a") this.send("answer", true);
  }

  draw() {
    const { here, slides } = this.data, slide = slides[here], next = slides[here + 1];
    const page = opened.document, { colorScheme, color, backgroundColor } = getComputedStyle(document.querySelector(".stApp"));
    page.title = "Speaker view";
    page.documentElement.lang = "en";
    page.head.replaceChildren(html("style", {}, STYLE));
    set(page.body, { style: `color-scheme: ${colorScheme}; color: ${color}; background: ${backgroundColor}` });
    opened.onkeydown = (event) => this.turn(event);
    page.body.replaceChildren(
      html("header", {}, html("span", {}, `Slide ${here} of ${slides.length - 1}`), html("time", {}, time())),
      html("h1", {}, slide.title),
      ...(slide.question ? [html("strong", {}, slide.question)] : []),
      html("p", {}, slide.notes),
      ...(next ? [html("h2", {}, "Next"), html("strong", {}, next.title), html("p", {}, next.question)] : []),
    );
  }
}

export default mounting(Speaker);
