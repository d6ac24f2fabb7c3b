// Drawings one under the other, or in columns. The text of a title is set as text; a drawing is parsed as XML, not as HTML.

const MARGIN = 12; // pixels

// Scroll to what a drawing is about, where that is out of sight: its words, whose weight is 700, and all of their arcs; where
// these do not fit, the first word with a wrong guess, which is dashed, with its own arcs, or it alone.
function reveal(box) {
  const edges = box.getBoundingClientRect();
  const places = (selector) => [...box.querySelectorAll(selector)].map((element) => element.getBoundingClientRect());
  const [words, arcs, wrong] = ["[font-weight='700']", "g[opacity='1'] > path:first-of-type", "path[stroke-dasharray]"].map(places);
  const touching = (word, paths) => paths.filter(({ left, right }) => word && left - 6 <= word.right && right + 6 >= word.left);
  const first = words.find((word) => touching(word, wrong).length) ?? words[0];
  for (const parts of [[...words, ...arcs], [first, ...touching(first, arcs)], [first]]) {
    if (!first) break;
    const left = Math.min(...parts.map((part) => part.left)), right = Math.max(...parts.map((part) => part.right));
    if (right - left > edges.width) continue;
    if (right > edges.right) box.scrollLeft = Math.min(left - edges.left, right - edges.right + MARGIN);
    break;
  }
  const fade = () => box.classList.toggle("cut", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  box.addEventListener("scroll", fade, { passive: true });
  fade();
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
