// A link within the app. A plain click clicks the hidden link to the same address, which stays in this session and makes one
// entry of the history; any other opens a tab of its own.
function appLink(href, text) {
  const open = html("a", { href }, text);
  open.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const hidden = [...document.querySelectorAll("[class*=st-key-hidden-links] a")].find((a) => a.href === open.href);
    if (!hidden) return;
    event.preventDefault();
    hidden.click();
  });
  return open;
}

