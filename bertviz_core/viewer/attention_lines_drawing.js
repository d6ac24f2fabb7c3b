// The lines as they are drawn: on the canvas of the page, and as a file, always dark on white; elements.js comes before this.

const LEVELS = 48; // lines of like darkness are drawn in one stroke

function onCanvas(lines) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = lines.canvas;
  if (!width || !lines.rows) return;
  [lines.canvas.width, lines.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)]; // clears it
  const context = lines.canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.lineWidth = lines.height > 16 ? 2 : 1.4;
  const style = getComputedStyle(lines.canvas);
  const strokes = new Map();
  for (const [from, to, weight, red, color] of lines.lines()) {
    const level = Math.max(1, Math.ceil(weight * LEVELS)), stroke = color ?? (red ? style.caretColor : style.color);
    const key = `${stroke} ${level}`;
    if (!strokes.has(key)) strokes.set(key, { level, red, stroke, path: new Path2D() });
    const { path } = strokes.get(key);
    path.moveTo(0, lines.middle(from));
    path.lineTo(width, lines.middle(to));
  }
  for (const { level, stroke, path } of [...strokes.values()].sort((a, b) => a.red - b.red || a.level - b.level)) {
    context.strokeStyle = stroke; // red ones last, on top
    context.globalAlpha = level / LEVELS;
    context.stroke(path);
  }
}

// The lines that are drawn now, as SVG.
function onPaper(lines) {
  const [column, between] = [190, 260];
  const heads = lines.named(), top = heads.length ? 42 : 24;
  const [width, height] = [2 * column + between, lines.canvas.clientHeight + top + 10];
  const text = { "font-family": "sans-serif", "font-size": 13 };
  const title = svg("text", { x: width / 2, y: 16, "text-anchor": "middle", ...text }, lines.data.title);
  const background = svg("rect", { width, height, fill: "#fff" });
  const drawn = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, background, title);
  heads.forEach(({ label, color }, index) => {
    const x = (width * (index + 1)) / (heads.length + 1);
    drawn.append(svg("text", { x, y: 34, "text-anchor": "middle", fill: color, ...text }, label));
  });
  const sorted = [...lines.lines()].sort((a, b) => a[3] - b[3] || a[2] - b[2]);
  for (const [from, to, weight, red, color] of sorted)
    drawn.append(svg("line", {
      x1: column, x2: column + between, y1: top + lines.middle(from), y2: top + lines.middle(to),
      stroke: color ?? (red ? "#e03131" : "#1f2430"), "stroke-opacity": weight.toFixed(3), "stroke-width": 1.6,
    }));
  for (const row of [...lines.rows.from, ...lines.rows.to]) {
    const left = row.side === "from";
    drawn.append(svg("text", {
      x: left ? column - 8 : column + between + 8, y: top + lines.middle(row.at) + 4,
      "text-anchor": left ? "end" : "start", ...text, "unicode-bidi": "isolate",
      fill: lines.pinned(row) ? "#e03131" : row.special ? "#6b7280" : "#1f2430",
    }, row.label.length > 24 ? row.label.slice(0, 23) + "…" : row.label));
  }
  return drawn;
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

// Letters that run from right to left would else take the numbers beside them along.
function isolated(text) {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;
}
