// Drawings one under the other, or in columns. The text of a title is set as text; a drawing is parsed as XML, not as HTML.
// Scroll to the words that a drawing is about, whose weight is 700, where they would be out of sight.
function reveal(box) {
  const [first, last] = [0, -1].map((index) => [...box.querySelectorAll("[font-weight='700']")].at(index)?.getBoundingClientRect());
  const edges = box.getBoundingClientRect(), margin = 60; // pixels, for the other end of an arc
  if (last?.right > edges.right) box.scrollLeft = Math.min(first.left - edges.left - margin, last.right - edges.right + margin);
}

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
  root.querySelectorAll("figure > div").forEach(reveal);
}
