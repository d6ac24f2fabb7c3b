// Drawings one under the other. The text of a title is set as text; a drawing is parsed as XML, not as HTML.
export default function ({ data, parentElement }) {
  const list = parentElement.querySelector(".drawings");
  list.replaceChildren(
    ...data.map(({ title, svg, file }) => {
      const item = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = title;
      const frame = document.createElement("div");
      frame.tabIndex = 0; // a long sentence is scrolled with the arrow keys too
      frame.append(document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true));
      const link = document.createElement("a");
      link.textContent = "SVG";
      link.download = file;
      link.href = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
      caption.append(" ", link);
      item.append(caption, frame);
      return item;
    }),
  );
}
