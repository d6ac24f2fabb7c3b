// Text of figures that is smaller than 11 pixels or has a contrast below 4.5: [text, pixels, contrast].
() => {
  const deep = (root, selector) => [
    ...root.querySelectorAll(selector),
    ...[...root.querySelectorAll("*")].filter((e) => e.shadowRoot).flatMap((e) => deep(e.shadowRoot, selector)),
  ];
  const rgba = (color) => (color.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number).concat(1).slice(0, 4);
  const over = (top, under) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * under[i]);
  const channel = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const paint = (element) => {
    const { fill, fillOpacity } = getComputedStyle(element), color = rgba(fill);
    color[3] *= fillOpacity;
    for (let e = element; e?.nodeType === 1; e = e.parentNode?.host ?? e.parentNode) color[3] *= getComputedStyle(e).opacity;
    return color;
  };
  const page = rgba(getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor);
  const contrast = (text, { x, y, width, height }) => {
    const middle = new DOMPoint(x + width / 2, y + height / 2);
    let ground = page;
    for (const shape of text.ownerSVGElement.querySelectorAll("path, rect, circle")) { // those that it is painted on
      if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
      const box = shape.getBoundingClientRect();
      if (box.left > middle.x || box.right < middle.x || box.top > middle.y || box.bottom < middle.y) continue;
      if (shape.closest("defs, clipPath")) continue;
      if (shape.isPointInFill(middle.matrixTransform(shape.getScreenCTM().inverse()))) ground = over(paint(shape), ground);
    }
    const [dark, light] = [luminance(over(paint(text), ground)), luminance(ground)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  return deep(document, "svg text")
    .map((text) => [text, text.getBoundingClientRect(), text.getScreenCTM()])
    .filter(([text, box]) => box.width && text.textContent.trim() && getComputedStyle(text).visibility !== "hidden")
    .map(([text, box, { a, b }]) => [
      text.textContent.slice(0, 40), parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b), contrast(text, box),
    ])
    .filter(([, size, ratio]) => size < 10.95 || ratio < 4.5);
}
