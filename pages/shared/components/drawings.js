// Drawings one under the other. The text of a title is set as text; a drawing is parsed as XML, not as HTML.
// A plain click on a drawing's link clicks the hidden link to the same address, which stays in this session and makes one
// entry of the history; any other opens a tab of its own.
function opening(link, text) {
  const open = document.createElement("a");
  open.textContent = text;
  open.href = link;
  open.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const hidden = [...document.querySelectorAll("[class*=st-key-hidden-links] a")].find((a) => a.href === open.href);
    if (!hidden) return;
    event.preventDefault();
    hidden.click();
  });
  return open;
}

function listOf(notes) {
  const lines = document.createElement("ul");
  lines.append(
    ...notes.map(({ text, link }) => {
      const line = document.createElement("li");
      line.append(link ? opening(link, text) : text);
      return line;
    }),
  );
  return lines;
}

export default function ({ data, parentElement }) {
  const list = parentElement.querySelector(".drawings");
  list.replaceChildren(
    ...data.map(({ title, svg, file, link, notes }) => {
      const item = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = title;
      const frame = document.createElement("div");
      frame.tabIndex = 0; // a long sentence is scrolled with the arrow keys too
      frame.append(document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true));
      const save = document.createElement("a");
      save.textContent = "SVG";
      save.download = file;
      save.href = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
      caption.append(...(link ? [" ", opening(link, "Open in the attention viewer")] : []), " ", save);
      item.append(caption, frame, ...(notes.length ? [listOf(notes)] : []));
      return item;
    }),
  );
}
