// The pages by section, and the switch between light and dark.

function themeButton(parent, pages) {
  const style = getComputedStyle(parent.host ?? parent);
  const dark = style.getPropertyValue("--st-base").trim() === "dark" || style.colorScheme === "dark";
  const change = () => openInTheme(dark ? "Light" : "Dark", pages);
  return button(dark ? "Light theme" : "Dark theme", change, { class: "theme", title: "Reloads the page" });
}

function pageLink({ name, title, icon, href }, current) {
  const link = appLink(href, title);
  link.prepend(html("span", { class: "icon", "aria-hidden": "true" }, icon));
  if (name === current) link.setAttribute("aria-current", "page");
  return link;
}

export default function ({ data: { sections, current, viewer }, parentElement }) {
  scrollKeeper.arrive(current, viewer);
  titleFocus.arrive(current);
  const before = parentElement.querySelector("nav");
  const focused = before ? [...before.querySelectorAll("a")].indexOf(before.getRootNode().activeElement) : -1;
  const menu = html("nav", { class: "menu", "aria-label": "Pages" });
  for (const { title, pages } of sections) menu.append(html("p", {}, title), ...pages.map((page) => pageLink(page, current)));
  menu.append(themeButton(parentElement, sections.flatMap(({ pages }) => pages.map(({ name }) => name))));
  if (before) before.replaceWith(menu);
  else parentElement.append(menu);
  menu.querySelectorAll("a")[focused]?.focus();
}
