// A link within the app in a sentence, as to a head, which Streamlit would open in a tab of its own. A plain click
// goes there in this session.

document.addEventListener("click", (event) => {
  const link = linkInSentence(event.target);
  const isOfApp = link?.origin === location.origin && new URL(link.href).searchParams.has("head");
  if (!isOfApp || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  followAddress(link.href);
});
