// Drawings one under the other, or in columns. The text of a title is set as text; a drawing is parsed as XML, not as HTML.
function figure({ title, svg, file, link, notes }) {
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const saving = html("a", { download: file, href: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` }, "SVG");
  const opening = link ? [" ", appLink(link, "Open in the attention viewer")] : [];
  const lines = notes.map(({ text, link }) => html("li", {}, link ? appLink(link, text) : text));
  return html("figure", {},
    html("figcaption", {}, title, ...opening, " ", saving),
    html("div", { tabindex: 0 }, document.importNode(drawn, true)), // a long sentence is scrolled with the arrow keys too
    ...(lines.length ? [html("ul", {}, ...lines)] : []),
  );
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".drawings");
  root.classList.toggle("in-columns", data.some(({ inColumns }) => inColumns));
  root.replaceChildren(...data.map(figure));
}
