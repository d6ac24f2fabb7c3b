// The overview of a model: the map of its heads, the finder with its table, and the scatter, all from the JSON of the
// page. What is looked for stands in the address, so that a link opens it.

const data = JSON.parse(document.getElementById("data").textContent);
const finder = new Finder(data);
const columns = new Map(data.terms.map((term) => [term.column, term]));
const state = { found: Array(data.heads.length).fill(true), columns: [], sorted: null, axes: [...data.axes] };

// As numbers.py writes a number
function textOf(value) {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.1 || size === 0) return value.toFixed(3);
  return size >= 1e-4 ? String(Number(value.toPrecision(3))) : value.toExponential(1).replace(/e-(\d)$/, "e-0$1");
}

function appLink(href, text) {
  return html("a", { href }, text);
}

function field(label, control, attributes = {}) {
  return html("label", attributes, label, control);
}

function choice(label, options, chosen, act) {
  const list = options.map(([value, text]) => html("option", { value, ...(value === chosen && { selected: "" }) }, text));
  const control = html("select", {}, ...list);
  control.addEventListener("change", () => act(control.value));
  return field(label, control);
}

// The map, of what heads do or of one of their numbers
const firstMap = { ...data.map, links: linksOf(data.map.chosen) };
let map = firstMap;

function linksOf(head) {
  return [[`All about head ${head}`, `${data.folder}${head}.html`]];
}

function drawMap() {
  const faint = data.heads.filter((_, head) => !state.found[head]);
  mount({ data: new TextEncoder().encode(JSON.stringify({ ...map, faint })), parentElement: places.map, setTriggerValue: chooseHead });
}

function chooseHead(_, head) {
  map = { ...map, chosen: head, links: linksOf(head) };
  drawMap();
}

function mapOf(term) {
  const values = data.numbers[term.column], known = values.filter((value) => value !== null).sort((a, b) => b - a);
  const isSigned = known.at(-1) < 0, most = isSigned ? Math.max(...known.map(Math.abs)) : known[0];
  const [low, high] = isSigned ? [-most, most] : [0, most];
  const hover = values.map((value, head) => {
    const rank = 1 + known.findIndex((each) => each === value);
    return `${data.heads[head]}: ${value === null ? "no value" : `${term.name} ${textOf(value)}; rank ${rank} of ${known.length}`}`;
  });
  const shares = values.map((value) => (value === null ? null : (value - low) / (high - low || 1)));
  const look = { limits: [low, high].map(textOf), unit: term.text, scale: isSigned ? data.scales.both : data.scales.one };
  return { ...firstMap, ...look, hover, values: shares, groups: [], chosen: map.chosen, links: map.links };
}

function colorMap(name) {
  const term = data.terms.find((each) => each.name === name);
  map = term ? mapOf(term) : { ...firstMap, chosen: map.chosen, links: map.links };
  drawMap();
}

// The finder and its table
function search(text) {
  try {
    state.found = finder.find(text);
    state.columns = finder.columnsIn(text).filter((column) => columns.has(column));
  } catch (problem) {
    return say(problem.message, true);
  }
  const listed = data.heads.filter((_, head) => state.found[head]);
  say(text.trim() ? `${listed.length || "None"} of ${data.heads.length} heads` : "", false);
  history.replaceState(null, "", text.trim() ? `#find=${encodeURIComponent(text)}` : location.pathname + location.search);
  for (const draw of [drawMap, drawTable, drawScatter]) draw();
}

function say(text, isWrong) {
  message.replaceChildren(text);
  message.classList.toggle("wrong", isWrong);
}

function drawTable() {
  const shown = state.columns.length ? state.columns : data.terms.slice(0, data.columns).map(({ column }) => column);
  const rows = data.heads.map((_, head) => head).filter((head) => state.found[head]);
  const values = data.numbers[state.sorted];
  if (values) rows.sort((a, b) => (values[b] ?? -Infinity) - (values[a] ?? -Infinity));
  const header = shown.map((column) => {
    const attributes = column === state.sorted ? { "aria-sort": "descending" } : {};
    return html("th", attributes, button(columns.get(column).name, () => sortBy(column), { title: "Highest first" }));
  });
  const head = html("tr", {}, html("th", {}, button("head", () => sortBy(null))), html("th", {}, "what it does"), ...header);
  const body = rows.map((row) => {
    const cells = shown.map((column) => html("td", { title: data.numbers[column][row] ?? "" }, textOf(data.numbers[column][row])));
    const key = data.heads[row];
    return html("tr", {}, html("td", {}, appLink(`${data.folder}${key}.html`, key)), html("td", {}, data.does[row]), ...cells);
  });
  const drawn = html("table", {}, html("thead", {}, head), html("tbody", {}, ...body));
  places.table.replaceChildren(html("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Heads" }, drawn));
}

function sortBy(column) {
  state.sorted = column;
  drawTable();
  places.table.querySelector(column === null ? "th button" : "[aria-sort] button").focus();
}

// The scatter
function drawScatter() {
  const axes = state.axes.map((place) => ({ text: data.terms[place].text, values: data.numbers[data.terms[place].column] }));
  const describe = (head) => `${data.heads[head]}: ${state.axes.map((place) => `${data.terms[place].name} ${textOf(data.numbers[data.terms[place].column][head])}`).join(", ")}`;
  picture.replaceChildren(scatterOf(data, axes, state.found, describe, places.scatter.clientWidth));
}

function setAxis(axis, place) {
  state.axes[axis] = Number(place);
  drawScatter();
}

const places = Object.fromEntries(["map", "finder", "table", "scatter"].map((id) => [id, document.getElementById(id)]));
const message = html("p", { class: "answer", role: "status" });
const picture = html("div");
const query = html("input", { type: "search", placeholder: data.example, maxlength: LONGEST, spellcheck: "false", autocomplete: "off" });
query.addEventListener("input", () => search(query.value));
places.finder.append(html("div", { class: "controls" }, field("Heads for which this holds", query, { class: "find" })), message);
const texts = data.terms.map((term, place) => [String(place), term.text]);
const axisChoices = ["Across", "Up", "Color"].map((label, axis) =>
  choice(label, texts, String(state.axes[axis]), (place) => setAxis(axis, place)),
);
places.scatter.append(html("div", { class: "controls" }, ...axisChoices), picture);
const colors = [...(firstMap.cards ? [["", "What each head does"]] : []), ...data.terms.map(({ name, text }) => [name, text])];
places.map.before(html("div", { class: "controls" }, choice("Map", colors, "", colorMap)));
function searchFromAddress() {
  query.value = new URLSearchParams(location.hash.slice(1)).get("find") ?? "";
  search(query.value);
}

searchFromAddress();
addEventListener("hashchange", searchFromAddress);
new ResizeObserver(() => drawScatter()).observe(places.scatter);
