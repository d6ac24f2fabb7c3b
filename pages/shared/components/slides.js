// The numbers of the slides, one stop of the tab key: the arrow keys change slides from here too, and the focus follows.

export default function ({ data: { here, last }, parentElement, setTriggerValue }) {
  const before = parentElement.querySelector("nav");
  const focused = before?.contains(before.getRootNode().activeElement);
  const slides = html("nav", { class: "slides", "aria-label": "Slides" });
  for (let number = 0; number <= last; number++) {
    const place = number === here ? { "aria-current": "step" } : { tabindex: -1 };
    slides.append(button(`${number}`, () => setTriggerValue("slide", number), place));
  }
  if (before) before.replaceWith(slides);
  else parentElement.append(slides);
  if (focused) slides.children[here].focus();
}
