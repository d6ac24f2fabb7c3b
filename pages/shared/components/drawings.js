// Drawings one under the other. The text of a title is set as text; a drawing is parsed as XML, not as HTML.
function listOf(notes) {
  const lines = html("ul");
  for (const { text, link } of notes) {
    const line = html("li");
    line.append(link ? appLink(link, text) : text);
    lines.append(line);
  }
  return lines;
}

function figure({ title, svg, file, link, notes }) {
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const frame = html("div", { tabindex: 0 }); // a long sentence is scrolled with the arrow keys too
  frame.append(document.importNode(drawn, true));
  const caption = html("figcaption", {}, title);
  const saving = html("a", { download: file, href: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` }, "SVG");
  caption.append(...(link ? [" ", appLink(link, "Open in the attention viewer")] : []), " ", saving);
  const item = html("figure");
  item.append(caption, frame, ...(notes.length ? [listOf(notes)] : []));
  return item;
}

export default function ({ data, parentElement }) {
  parentElement.querySelector(".drawings").replaceChildren(...data.map(figure));
}
