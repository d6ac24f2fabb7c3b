// Whoever follows a link with the keyboard goes on reading at the title of the page that it leads to: with the link the
// focus would be gone.

const FOCUS_TIMEOUT_MS = 5_000; // ms for which the page is waited for; its title may be drawn more than once

class TitleFocus {
  constructor() {
    watchHistory((isReturn) => isReturn || this.begin());
  }

  arrive(page) {
    if (this.page && page !== this.page) this.begin();
    this.page = page;
  }

  begin(end = performance.now() + FOCUS_TIMEOUT_MS) {
    clearTimeout(this.timer);
    const title = pageTitle();
    if (title && !isRunning() && document.activeElement === document.body) {
      set(title, { tabindex: -1 });
      title.focus({ preventScroll: true });
    }
    if (performance.now() < end) this.timer = setTimeout(() => this.begin(end), 100);
  }
}

const titleFocus = new TitleFocus();
