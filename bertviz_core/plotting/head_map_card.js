// What a map of heads shows of one head: its lines on a short text, and on the overview a card, whose links are shared.js's.

// One head's attention as SVG: tokens left and right, lines as dark as the weights. maps: bytes, head by head
function previewOf(tokens, maps, index, width, line) {
  const [left, right, n] = [0.36 * width, 0.64 * width, tokens.length], height = (n + 0.4) * line, parts = [];
  for (let from = 0; from < n; from++)
    for (let to = 0; to < n; to++) {
      const weight = maps[(index * n + from) * n + to] / 255;
      if (weight < 0.04) continue;
      const ends = { x1: left + 4, y1: (from + 0.7) * line, x2: right - 4, y2: (to + 0.7) * line };
      parts.push(svg("line", { ...ends, stroke: "currentColor", "stroke-width": 1.6, opacity: weight }));
    }
  tokens.forEach((token, row) => {
    const place = { y: (row + 0.7) * line, "dominant-baseline": "central", fill: "currentColor", "font-size": 0.8 * line };
    parts.push(svg("text", { ...place, x: left, "text-anchor": "end" }, token), svg("text", { ...place, x: right }, token));
  });
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return svg("svg", { class: "preview", "aria-hidden": "true", ...size }, ...parts);
}

// A head in a few words; preview: a function of a width that draws its lines on the short text; part: which of the tokens
// these are; guesses: what the model guesses for a word with and without the head
function fillCard(card, { title, behavior, numbers, lines }, preview, part, guesses, links) {
  card.replaceChildren(html("strong", {}, title), html("p", {}, behavior));
  const { paddingLeft, fontSize } = getComputedStyle(card);
  const width = card.clientWidth - 2 * parseFloat(paddingLeft); // 0 or less while the page is not laid out
  const drawn = width > 0 && preview(width, parseFloat(fontSize));
  if (drawn) card.append(html("p", { class: "part" }, "On your sentence"), drawn);
  if (part) card.append(html("p", { class: "part" }, part));
  if (guesses) card.append(tableOf(guesses.header, guesses.rows));
  if (numbers.length) {
    const isHere = numbers.some(([, here]) => here);
    const columns = (row) => (isHere ? row : [row[0], ...row.slice(2)]);
    card.append(tableOf(columns(["quantity", "on your sentence", "on the corpora", "rank"]), numbers.map(columns)));
  }
  for (const line of lines) card.append(html("p", {}, line));
  for (const [text, href] of links) card.append(html("p", {}, appLink(href, text)));
}

function tableOf(header, rows) {
  const line = (cells, tag) => html("tr", {}, ...cells.map((cell) => html(tag, {}, cell)));
  return html("table", {}, html("thead", {}, line(header, "th")), html("tbody", {}, ...rows.map((row) => line(row, "td"))));
}
