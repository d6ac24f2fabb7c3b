// What components rely on of Streamlit's pages beyond its documented interface; its next version may change it. The
// tests of browser/test_history.py (links), test_scroll.py and test_appearance.py (theme) in the same folder fail where
// it has.

const EMBED = ["embed", "embed_options"]; // parameters of an address that say how Streamlit draws its page
const THEME_VERSION = 2; // of Streamlit's entry in the browser's storage, one for each address, which it reads on loading

// Go to an address within the app as the browser's Forward would, which Streamlit follows in this session.
function followAddress(href) {
  history.pushState(null, "", href);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

// Call `moved` after each move in the browser's history, with whether it is its own Back or Forward, not followAddress.
function watchHistory(moved) {
  addEventListener("popstate", (event) => moved(event.isTrusted));
}

// The link of a page's sentences in which an element is; null where it is in none.
function linkInSentence(element) {
  return element.closest?.('[data-testid="stMain"] [data-testid="stMarkdownContainer"] a[href]') ?? null;
}

// The title of the page.
function pageTitle() {
  return document.querySelector('[data-testid="stMain"] h1');
}

// Whether the page's script runs.
function isRunning() {
  return document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "running";
}

// What scrolls: the page without the sidebar.
function scrollingElement() {
  return document.querySelector('[data-testid="stMain"]');
}

// Open the page, and from then on the app's pages, by name, in the theme "Light" or "Dark"; the first page's address has
// no name. Where the browser has no storage, as in a frame of another site, the address of the page has the theme.
function openInTheme(theme, pages) {
  const base = location.pathname.replace(/[^/]*$/, "");
  try {
    for (const page of ["", ...pages])
      localStorage.setItem(`stActiveTheme-${base}${page}-v${THEME_VERSION}`, JSON.stringify(theme));
    location.reload();
  } catch {
    const address = new URL(location.href);
    const values = ["true", `${theme.toLowerCase()}_theme`];
    EMBED.forEach((name, index) => address.searchParams.set(name, values[index]));
    location.replace(address);
  }
}

// The address of the page for others, whose theme is their own.
function addressForOthers() {
  const address = new URL(location.href);
  EMBED.forEach((name) => address.searchParams.delete(name));
  return address.href;
}
