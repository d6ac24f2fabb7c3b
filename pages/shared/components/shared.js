// What several components share; elements.js and streamlit_internals.js come before this.

// A link within the app. A plain click goes there in this session; any other opens a tab of its own.
function appLink(href, text) {
  const open = html("a", { href }, text);
  open.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    followAddress(open.href);
  });
  return open;
}
