// What several components share; elements.js comes before this.

// A link within the app. A plain click goes there as the browser's Forward would, which Streamlit follows in this session;
// any other opens a tab of its own.
function appLink(href, text) {
  const open = html("a", { href }, text);
  open.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", open.href);
    window.dispatchEvent(new PopStateEvent("popstate"));
  });
  return open;
}
