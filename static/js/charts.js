"use strict";
/* Draws every <figure data-chart="ID"> from the JSON in <script type="application/json" id="ID">,
   in the page's own light or dark, again after htmx swaps something in. */
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  async function draw(figure) {
    const source = document.getElementById(figure.dataset.chart);
    const place = figure.querySelector("[data-chart-place]") || figure;
    if (!source || !window.vegaEmbed || figure.dataset.drawn === String(dark.matches)) return;
    figure.dataset.drawn = String(dark.matches);
    const specs = JSON.parse(source.textContent);
    const spec = specs.light ? (dark.matches ? specs.dark : specs.light) : specs;
    let holder = place.querySelector(".chart-drawing");
    if (!holder) {
      holder = document.createElement("div");
      holder.className = "chart-drawing";
      place.prepend(holder);
    }
    // `ast` keeps the runtime from compiling expressions, which the page's policy forbids.
    await window.vegaEmbed(holder, spec, { ast: true, actions: false, renderer: "svg" });
  }

  function drawAll(root) {
    root.querySelectorAll("[data-chart]").forEach(draw);
  }

  document.addEventListener("DOMContentLoaded", () => drawAll(document));
  document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target.parentElement || document));
  dark.addEventListener("change", () => drawAll(document));
})();
