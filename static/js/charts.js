"use strict";
/* Draws every <figure data-chart="ID"> from the JSON in <script type="application/json" id="ID">,
   in the page's own light or dark, again after htmx swaps something in.
   A drawn chart is one stop of the Tab key: arrow keys then go through its marks, each said aloud and shown,
   Home and End go to the first and the last, Escape leaves the marks. */
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const HINT = "Arrow keys read the values, Escape ends; the table of its numbers follows.";
  const SAME_LINE = 4; // pixels within which marks stand in one row or column

  function holderIn(place) {
    let holder = place.querySelector(".chart-drawing");
    if (!holder) {
      holder = document.createElement("div");
      holder.className = "chart-drawing";
      place.prepend(holder);
    }
    return holder;
  }

  async function draw(figure) {
    const source = document.getElementById(figure.dataset.chart);
    const place = figure.querySelector("[data-chart-place]") || figure;
    if (!source || !window.vegaEmbed || figure.dataset.drawn === String(dark.matches)) return;
    figure.dataset.drawn = String(dark.matches);
    const specs = JSON.parse(source.textContent);
    const spec = specs.light ? (dark.matches ? specs.dark : specs.light) : specs;
    const holder = holderIn(place);
    // `ast` keeps the runtime from compiling expressions, which the page's policy forbids.
    const drawn = await window.vegaEmbed(holder, spec, { ast: true, actions: false, renderer: "svg" });
    const words = spec.usermeta || {};
    readable(place, holder, drawn.view, words);
  }

  /* Keyboard */

  function textOf(tooltip) {
    if (typeof tooltip !== "object" || tooltip === null) return String(tooltip);
    const parts = Object.entries(tooltip).filter(([, value]) => value !== "" && value !== null && value !== undefined);
    return parts.map(([name, value], index) => (index ? `${name} ${value}` : String(value))).join(", ");
  }

  /* Every mark that has a tooltip, once, with its box in pixels from the holder's corner. */
  function marksOf(view, holder) {
    const found = new Map();
    const corner = holder.getBoundingClientRect();
    const svg = holder.querySelector("svg");
    if (!svg) return [];
    const frame = svg.getBoundingClientRect();
    const scale = svg.width.baseVal.value ? frame.width / svg.width.baseVal.value : 1;
    const [left, top] = view.origin();
    const padding = view.padding();
    const start = { x: frame.left - corner.left, y: frame.top - corner.top };
    const collect = (mark, x, y) => {
      for (const item of mark.items || []) {
        if (mark.marktype === "group") {
          for (const inner of item.items || []) collect(inner, x + (item.x || 0), y + (item.y || 0));
        }
        const isEmpty = item.tooltip === undefined || item.tooltip === null || item.tooltip === "";
        if (isEmpty || mark.marktype === "group") continue;
        const text = textOf(item.tooltip);
        if (found.has(text)) continue;
        const isLine = mark.marktype === "line" || mark.marktype === "area";
        const b = isLine ? { x1: item.x - 4, x2: item.x + 4, y1: item.y - 4, y2: item.y + 4 } : item.bounds;
        found.set(text, {
          text,
          x: start.x + scale * (x + b.x1 + left + padding.left),
          y: start.y + scale * (y + b.y1 + top + padding.top),
          width: scale * (b.x2 - b.x1),
          height: scale * (b.y2 - b.y1),
        });
      }
    };
    collect(view.scenegraph().root, 0, 0);
    return [...found.values()].map((one) => ({ ...one, cx: one.x + one.width / 2, cy: one.y + one.height / 2 }));
  }

  function inOrder(marks, reading) {
    if (reading === "drawn") return marks;
    const [first, second] = reading === "down" ? ["cy", "cx"] : ["cx", "cy"];
    return marks.sort((a, b) => (Math.abs(a[first] - b[first]) > SAME_LINE ? a[first] - b[first] : a[second] - b[second]));
  }

  /* The nearest mark above or below, of those the one that is least to the side. */
  function nearest(marks, from, direction) {
    let best = -1;
    let least = Infinity;
    marks.forEach((mark, index) => {
      const away = (mark.cy - marks[from].cy) * direction;
      if (away <= SAME_LINE) return;
      const cost = away + 4 * Math.abs(mark.cx - marks[from].cx);
      if (cost < least) [best, least] = [index, cost];
    });
    return best;
  }

  function readable(place, holder, view, words) {
    holder.tabIndex = 0;
    holder.setAttribute("role", "application");
    holder.setAttribute("aria-roledescription", "chart");
    holder.setAttribute("aria-label", `${words.title || "Chart"}. ${HINT}`);
    let ring = place.querySelector(":scope > .chart-ring");
    if (!ring) {
      ring = document.createElement("div");
      ring.className = "chart-ring";
      ring.hidden = true;
      const said = document.createElement("p");
      said.className = "chart-said";
      said.setAttribute("role", "status");
      holder.after(ring, said);
    }
    const said = place.querySelector(":scope > .chart-said");
    let at = -1;

    function leave() {
      at = -1;
      ring.hidden = true;
      said.textContent = "";
    }

    function show(marks) {
      const mark = marks[at];
      const [x, y] = [holder.offsetLeft, holder.offsetTop];
      ring.hidden = false;
      ring.style.left = `${x + mark.x - 4}px`;
      ring.style.top = `${y + mark.y - 4}px`;
      ring.style.width = `${mark.width + 8}px`;
      ring.style.height = `${mark.height + 8}px`;
      said.textContent = `${mark.text} (${at + 1} of ${marks.length})`;
    }

    function next(key, marks) {
      if (key === "Home") return 0;
      if (key === "End") return marks.length - 1;
      if (at < 0) return key === "ArrowLeft" || key === "ArrowUp" ? marks.length - 1 : 0;
      if (key === "ArrowRight") return Math.min(at + 1, marks.length - 1);
      if (key === "ArrowLeft") return Math.max(at - 1, 0);
      const found = nearest(marks, Math.min(at, marks.length - 1), key === "ArrowDown" ? 1 : -1);
      return found < 0 ? at : found;
    }

    holder.onkeydown = (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape") {
        leave();
        return;
      }
      if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
      const marks = inOrder(marksOf(view, holder), words.reading);
      if (!marks.length) return;
      event.preventDefault();
      at = Math.min(next(event.key, marks), marks.length - 1);
      show(marks);
    };
    holder.onblur = leave;
    view.addResizeListener(leave);
  }

  function drawAll(root) {
    root.querySelectorAll("[data-chart]").forEach(draw);
  }

  document.addEventListener("DOMContentLoaded", () => drawAll(document));
  document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target.parentElement || document));
  dark.addEventListener("change", () => drawAll(document));
})();
