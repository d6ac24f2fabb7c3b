// Drawings one under the other. The text of a title is set as text; a drawing is parsed as XML, not as HTML.
export default function ({ data, parentElement }) {
  const list = parentElement.querySelector(".drawings");
  list.replaceChildren(
    ...data.map(({ title, svg }) => {
      const item = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = title;
      const frame = document.createElement("div");
      frame.append(document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true));
      item.append(caption, frame);
      return item;
    }),
  );
}
