"use strict";
/* Draws every <figure data-chart="ID"> from the JSON in <script type="application/json" id="ID">,
   in the page's own light or dark, again after htmx swaps something in.
   A drawn chart is one stop of the Tab key: arrow keys then go through its marks, each said aloud and shown,
   Home and End go to the first and the last, Escape leaves the marks.
   Below each chart are buttons that save it as SVG and PNG (in light colours, 720 pixels wide) and its numbers as CSV.
   A <select data-highlight> dims all but one algorithm in every chart and marks its rows in every table. */
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const scheme = () => getComputedStyle(document.documentElement).colorScheme; // one word where the page has a single theme
  const isDark = () => (scheme().includes(" ") ? dark.matches : scheme() === "dark");
  const HINT = "Arrow keys read the values, Escape ends; the table of its numbers follows.";
  const RUNTIME = document.currentScript.dataset.runtime;
  const views = new Map();
  let loading = null;
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

  /* Loads the library that draws, by far the largest file of the console, for the first chart. */
  function library() {
    loading ||= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = RUNTIME;
      script.onload = resolve;
      script.onerror = () => {
        loading = null; // the next chart tries again
        reject();
      };
      document.head.append(script);
    });
    return loading;
  }

  async function draw(figure) {
    const source = document.getElementById(figure.dataset.chart);
    const place = figure.querySelector("[data-chart-place]") || figure;
    if (!source) return;
    try {
      await library();
    } catch {
      holderIn(place).textContent = `This chart cannot be drawn: ${RUNTIME} cannot be loaded. Reload the page. If that does not help, the `
        + "administrator of this installation runs make install and restarts the web server.";
      return;
    }
    if (figure.dataset.drawn === String(isDark())) return;
    figure.dataset.drawn = String(isDark());
    const specs = JSON.parse(source.textContent);
    const spec = specs.light ? (isDark() ? specs.dark : specs.light) : specs;
    const holder = holderIn(place);
    // `ast` keeps the runtime from compiling expressions, which the page's policy forbids.
    const drawn = await window.vegaEmbed(holder, spec, { ast: true, actions: false, renderer: "svg" });
    const words = spec.usermeta || {};
    readable(place, holder, drawn.view, words);
    views.set(holder, drawn.view);
    drawn.view.addResizeListener(() => setTimeout(() => highlight(holder, drawn.view), 0));
    highlight(holder, drawn.view);
    offerFiles(figure, specs.light || specs);
  }

  /* Highlighted algorithms */

  const selected = () => document.querySelector("select[data-highlight]");

  function names() {
    const select = selected();
    return select ? [...select.options].map((option) => option.value).filter(Boolean) : [];
  }

  /* The algorithms that a mark's data name: its own, or both of a pair such as "A above B". */
  function namedBy(item, known) {
    const texts = Object.values(item.datum || {}).filter((value) => typeof value === "string");
    if (item.text) texts.push([item.text].flat().join(" "));
    return known.filter((name) =>
      texts.some((text) => text === name || ` ${text} `.replaceAll(",", " ").includes(` ${name} `)),
    );
  }

  function highlight(holder, view) {
    const select = selected();
    const name = select ? select.value : "";
    const known = names();
    const hidesPairs = Boolean(holder.closest("[data-significant]"));
    const visit = (mark) => {
      if ((mark.role || "").startsWith("title")) return; // the finding stays legible
      for (const item of mark.items || []) {
        if (mark.marktype === "group") {
          (item.items || []).forEach(visit);
          continue;
        }
        const element = item._svg;
        if (!element || !element.classList) continue;
        const own = namedBy(item, known);
        element.classList.toggle("lit", Boolean(name) && own.includes(name));
        element.classList.toggle("dimmed", Boolean(name) && own.length > 0 && !own.includes(name));
        element.classList.toggle("not-shown", hidesPairs && item.datum !== undefined && item.datum.is_significant === false);
      }
    };
    visit(view.scenegraph().root);
  }

  function highlightRows() {
    const select = selected();
    if (!select) return;
    document.querySelectorAll("main tbody tr").forEach((row) => {
      const head = row.cells[0];
      const own = row.dataset.algorithm || (head ? head.textContent.trim() : "");
      row.classList.toggle("highlighted", Boolean(select.value) && own === select.value);
    });
  }

  function highlightAll() {
    views.forEach((view, holder) => {
      if (holder.isConnected) highlight(holder, view);
      else views.delete(holder);
    });
    highlightRows();
  }

  function chooseHighlight(event) {
    // The charts change in place: no request is needed.
    event.stopPropagation();
    const address = new URL(window.location.href);
    if (event.target.value) address.searchParams.set("highlight", event.target.value);
    else address.searchParams.delete("highlight");
    window.history.replaceState(window.history.state, "", address);
    highlightAll();
  }

  /* Files */

  function save(name, content, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function offscreen(spec, use) {
    const place = document.createElement("div");
    place.className = "chart-offscreen";
    document.body.append(place);
    try {
      const whole = { ...spec, background: "#ffffff" };
      const drawn = await window.vegaEmbed(place, whole, { ast: true, actions: false, renderer: "svg" });
      await use(drawn.view);
      drawn.view.finalize();
    } finally {
      place.remove();
    }
  }

  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csvOf = (rows) => `${rows.map((row) => row.map((cell) => quoted(String(cell ?? ""))).join(",")).join("\r\n")}\r\n`;

  /* The numbers of a chart: its table where there is one, else the rows that it draws. */
  function numbersOf(figure, spec) {
    const table = figure.querySelector("table") || (figure.nextElementSibling?.nextElementSibling?.matches?.("details.data-table")
      ? figure.nextElementSibling.nextElementSibling.querySelector("table") : null);
    if (table) {
      return csvOf([...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim().replace(/\s+/g, " "))));
    }
    const largest = Object.values(spec.datasets || {}).sort((a, b) => b.length - a.length)[0] || [];
    const heads = Object.keys(largest[0] || {});
    return csvOf([heads, ...largest.map((row) => heads.map((head) => row[head]))]);
  }

  function offerFiles(figure, spec) {
    if (figure.querySelector(":scope > .chart-files")) return;
    const name = figure.id || figure.dataset.chart || "chart";
    const title = (spec.usermeta || {}).title || name;
    const files = document.createElement("p");
    files.className = "chart-files";
    files.append("Save as");
    const offer = (format, act) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "plain";
      button.textContent = format;
      button.setAttribute("aria-label", `Save as ${format}: ${title}`);
      button.addEventListener("click", act);
      files.append(button);
    };
    offer("SVG", () => offscreen(spec, async (view) => save(`${name}.svg`, await view.toSVG(), "image/svg+xml")));
    offer("PNG", () => offscreen(spec, async (view) => {
      const canvas = await view.toCanvas(2);
      await new Promise((done) => canvas.toBlob((blob) => { save(`${name}.png`, blob); done(); }, "image/png"));
    }));
    offer("CSV", () => save(`${name}.csv`, numbersOf(figure, spec), "text/csv"));
    const caption = figure.querySelector(":scope > figcaption");
    if (caption) caption.before(files);
    else figure.append(files);
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

  document.addEventListener("DOMContentLoaded", () => {
    selected()?.addEventListener("change", chooseHighlight);
    highlightRows();
    drawAll(document);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    highlightRows();
    drawAll(event.target.parentElement || document);
  });
  dark.addEventListener("change", () => drawAll(document));
})();
