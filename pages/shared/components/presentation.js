// Shows a slide alone: enlarged, in full screen where the browser allows it, and without buttons while the mouse rests.
// appearance.css hides what is around the slide.

const SLIDE = { width: 853, height: 480 }; // CSS pixels, which are enlarged to the window
const REST = 2500; // ms after which the buttons disappear

class Presentation {
  constructor() {
    this.root = html("div");
    this.page = document.documentElement;
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    const leave = () => this.send("left", true);
    window.addEventListener("resize", () => this.enlarge(), { signal });
    document.addEventListener("mousemove", () => this.moved(), { signal });
    document.addEventListener("keydown", ({ key }) => key === "Escape" && leave(), { signal });
    document.addEventListener("fullscreenchange", () => document.fullscreenElement || leave(), { signal });
    // Without a key or a click, as by a link, the window stays as it is.
    this.entered = this.page.requestFullscreen?.().catch(() => {});
    this.page.classList.add("resting");
    this.enlarge();
  }

  update() {}

  enlarge() {
    const share = Math.min(innerWidth / SLIDE.width, innerHeight / SLIDE.height);
    this.page.style.setProperty("--enlarged", Math.max(1, share).toFixed(3));
  }

  moved() {
    this.page.classList.remove("resting");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.page.classList.add("resting"), REST);
  }

  async close() {
    this.listeners.abort();
    clearTimeout(this.timer);
    this.page.classList.remove("resting");
    await this.entered; // who leaves at once would else be shown in full screen what comes after the slide
    if (document.fullscreenElement === this.page) document.exitFullscreen();
  }
}

export default mounting(Presentation);
