// Light or dark. Streamlit keeps its reader's theme in the browser, for each address apart, and reads it on loading.

const VERSION = 2; // of that entry

export default function ({ data, parentElement }) {
  const style = getComputedStyle(parentElement.host ?? parentElement);
  const dark = style.getPropertyValue("--st-base").trim() === "dark" || style.colorScheme === "dark";
  const change = () => {
    const base = location.pathname.replace(/[^/]*$/, "");
    for (const page of ["", ...data.pages])
      localStorage.setItem(`stActiveTheme-${base}${page}-v${VERSION}`, JSON.stringify(dark ? "Light" : "Dark"));
    location.reload();
  };
  parentElement.querySelector("button")?.remove(); // the style beside it stays
  parentElement.append(button(dark ? "Light theme" : "Dark theme", change, { class: "theme", title: "Reloads the page" }));
}
