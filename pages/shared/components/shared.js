// What several components share; elements.js comes before this.

// A link within the app. A plain click goes there as the browser's Forward would, which Streamlit follows in this session;
// any other opens a tab of its own.
function appLink(href, text) {
  const open = html("a", { href }, text);
  open.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", open.href);
    window.dispatchEvent(new PopStateEvent("popstate"));
  });
  return open;
}

// One head's attention on the short sentence: tokens left and right, lines as dark as the weights.

class Preview {
  constructor() {
    this.root = svg("svg", { class: "preview", "aria-hidden": "true" });
  }

  // index: of the head, layer by layer; data: { tokens, maps }
  show(data, index, width, line) {
    if (data !== this.data) {
      this.data = data;
      this.maps = Uint8Array.from(atob(data.maps), (letter) => letter.charCodeAt(0));
    }
    const { tokens } = data, n = tokens.length;
    const [left, right, height] = [0.36 * width, 0.64 * width, (n + 0.4) * line];
    const parts = [];
    for (let from = 0; from < n; from++)
      for (let to = 0; to < n; to++) {
        const weight = this.maps[(index * n + from) * n + to] / 255;
        if (weight < 0.04) continue;
        const ends = { x1: left + 4, y1: (from + 0.7) * line, x2: right - 4, y2: (to + 0.7) * line };
        parts.push(svg("line", { ...ends, stroke: "currentColor", "stroke-width": 1.6, opacity: weight }));
      }
    tokens.forEach((token, row) => {
      const place = { y: (row + 0.7) * line, "dominant-baseline": "central", fill: "currentColor", "font-size": 0.8 * line };
      parts.push(svg("text", { ...place, x: left, "text-anchor": "end" }, token), svg("text", { ...place, x: right }, token));
    });
    set(this.root, { width, height, viewBox: `0 0 ${width} ${height}` });
    this.root.replaceChildren(...parts);
  }
}

// A head in a few words, with its lines on the short sentence.
class HeadCard {
  constructor() {
    this.root = html("aside", { class: "card" });
    this.preview = new Preview();
  }

  show({ title, behavior, numbers, relation, attended }, preview, index, link) {
    this.root.replaceChildren(html("strong", {}, title), html("p", {}, behavior));
    if (preview) {
      const { paddingLeft, fontSize } = getComputedStyle(this.root);
      const width = this.root.clientWidth - 2 * parseFloat(paddingLeft);
      this.preview.show(preview, index, width, 1.15 * parseFloat(fontSize));
      this.root.append(this.preview.root);
    }
    const list = this.root.appendChild(html("dl"));
    for (const [label, value, rank] of numbers) list.append(html("dt", {}, label), html("dd", {}, value), html("dd", {}, rank));
    for (const line of [relation, attended]) if (line) this.root.append(html("p", {}, line));
    if (link) this.root.append(appLink(link, "Open in the attention viewer"));
  }
}
