// Draws the figures of a page, each from the JSON after its element. On pages that say where heads have theirs, a click on
// the dot of a head leads there.

addEventListener("DOMContentLoaded", () => {
  const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" } };
  const heads = document.querySelector("[data-heads]")?.dataset.heads;
  for (const place of document.querySelectorAll(".plotly-graph-div")) {
    const { data, layout } = JSON.parse(place.nextElementSibling.textContent);
    Plotly.newPlot(place, data, layout, config);
    if (heads === undefined) continue;
    place.on("plotly_click", ({ points }) => {
      const head = String([points[0].customdata].flat()[0]);
      if (/^\d+-\d+$/.test(head)) location.href = `${heads}${head}.html`;
    });
  }
});
