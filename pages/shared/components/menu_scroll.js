// Where the reader was on each page. Whoever comes back from the page where sentences are looked at, or by the browser's
// Back and Forward, finds the page at the same height, as soon as its content is there.

const SCROLLED = "scrolled-"; // begins the names in the browser's session, one for each page
const CONTENT_TIMEOUT_MS = 10_000; // ms for which the content is waited for
const STEADY = 1_000; // ms for which the height must hold: figures above it are drawn one after the other

// The browser's memory of the session, or this page's: in a frame of another site a browser may have none.
function sessionMemory() {
  try {
    return sessionStorage;
  } catch {
    const entries = new Map();
    return { getItem: (name) => entries.get(name) ?? null, setItem: (name, value) => entries.set(name, value) };
  }
}

class ScrollKeeper {
  memory = sessionMemory();

  constructor() {
    addEventListener("scroll", () => this.remember(), { capture: true, passive: true });
    watchHistory((isReturn) => (this.returned = isReturn));
    for (const touched of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(touched, () => this.stop(), { capture: true, passive: true });
  }

  arrive(page, viewer) {
    if (page === this.page) return;
    const comesBack = this.page === viewer || this.returned;
    this.stop();
    [this.page, this.path, this.returned] = [page, location.pathname, false];
    const height = Number(this.memory.getItem(SCROLLED + page));
    if (comesBack && height) this.restore(height, performance.now() + CONTENT_TIMEOUT_MS);
  }

  remember() {
    const main = scrollingElement();
    // While the next page comes, the height is that of neither page.
    if (main && !this.timer && this.path === location.pathname) this.memory.setItem(SCROLLED + this.page, Math.round(main.scrollTop));
  }

  restore(height, end, since = 0) {
    const main = scrollingElement(), now = performance.now();
    const isThere = main && Math.abs(main.scrollTop - height) < 2;
    if (main && !isThere) main.scrollTop = height;
    const steady = isThere ? since || now : 0;
    this.timer = now < end && !(steady && now - steady > STEADY) ? setTimeout(() => this.restore(height, end, steady), 50) : 0;
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }
}

const scrollKeeper = new ScrollKeeper();
