// What components rely on of Streamlit's pages beyond its documented interface; its next version may change it. The
// tests of browser/test_history.py (links) and browser/test_appearance.py (theme) fail where it has.

const THEME_VERSION = 2; // of Streamlit's entry in the browser's storage, one for each address, which it reads on loading

// Go to an address within the app as the browser's Forward would, which Streamlit follows in this session.
function followAddress(href) {
  history.pushState(null, "", href);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

// What scrolls: the page without the sidebar.
function scrollingElement() {
  return document.querySelector('[data-testid="stMain"]');
}

// Have the app's pages, by name, open in the theme "Light" or "Dark"; the first page's address has no name.
function rememberTheme(theme, pages) {
  const base = location.pathname.replace(/[^/]*$/, "");
  for (const page of ["", ...pages])
    localStorage.setItem(`stActiveTheme-${base}${page}-v${THEME_VERSION}`, JSON.stringify(theme));
}
