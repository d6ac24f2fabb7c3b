// What all drawings in a browser share. Text is only ever appended as text.

const NS = "http://www.w3.org/2000/svg";

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function filled(element, attributes, children) {
  set(element, attributes).append(...children.map((child) => child ?? ""));
  return element;
}

function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(NS, tag), attributes, children);
}

function button(text, act, attributes = {}) {
  const element = html("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", act);
  return element;
}

function save(name, blob) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function saveSvg(name, drawn) {
  save(`${name}.svg`, new Blob([new XMLSerializer().serializeToString(drawn)], { type: "image/svg+xml" }));
}

function savePng(name, drawn) {
  const image = new Image();
  image.onload = () => {
    const canvas = html("canvas");
    const scale = Math.min(3, 8000 / image.height);
    [canvas.width, canvas.height] = [image.width * scale, image.height * scale];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(`${name}.png`, blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(drawn));
}

// A component whose view, in `root`, stays from one run of the page to the next: `update` is given the data of each run.
function mounting(View) {
  const views = new WeakMap();
  return ({ data, parentElement, setTriggerValue }) => {
    let view = views.get(parentElement);
    if (!view) {
      views.set(parentElement, (view = new View()));
      parentElement.append(view.root);
      view.root.addEventListener("keydown", (event) => event.key.startsWith("Arrow") && event.stopPropagation()); // the page's too
    }
    view.send = setTriggerValue;
    view.update(data);
    return () => {
      view.close?.();
      view.root.remove();
      views.delete(parentElement);
    };
  };
}
