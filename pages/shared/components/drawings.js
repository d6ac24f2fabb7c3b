// Drawings one under the other. The text of a title is set as text; a drawing is parsed as XML, not as HTML.
// A drawing shrinks to its column, or grows a little, as far as its words stay legible; beyond that it is scrolled.
function fit(drawn) {
  const [width, height] = [drawn.getAttribute("width"), drawn.getAttribute("height")];
  if (!drawn.hasAttribute("viewBox")) drawn.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawn.removeAttribute("height");
  Object.assign(drawn.style, { width: "100%", minWidth: `${0.8 * width}px`, maxWidth: `${1.1 * width}px`, height: "auto" });
}

function figure({ title, svg, file, link, notes }) {
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  fit(drawn);
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
  parentElement.querySelector(".drawings").replaceChildren(...data.map(figure));
}
