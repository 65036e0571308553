/* The grid of pairs: a cell opens both differences of its pair, arrow keys move, and a name lights up everywhere. */
(() => {
  "use strict";
  const NS = "http://www.w3.org/2000/svg";
  const SIDES = ["objective", "perceived"];

  function differenceOf(cell, side) {
    const stored = cell.dataset[side];
    if (!stored) return null;
    const [words, value, low, high] = stored.split(" | ");
    return { words, value: Number(value), low: Number(low), high: Number(high) };
  }

  /* The furthest limit of a side: one scale for all pairs. */
  const reachOf = (cells, side) =>
    Math.max(...cells.map((cell) => differenceOf(cell, side)).filter(Boolean).flatMap((one) => [Math.abs(one.low), Math.abs(one.high)]));

  function bar(difference, reach, side) {
    const x = (value) => 122 + (value / reach) * 118;
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("viewBox", "0 0 244 16");
    svg.setAttribute("aria-hidden", "true");
    svg.innerHTML = `<path d="M2 8H242" stroke="var(--line)"/><path d="M122 2V14" stroke="var(--quiet)"/>
      <path d="M${x(difference.low)} 8H${x(difference.high)}" stroke="var(--${side}-interval)" stroke-width="5"/>
      <circle cx="${x(difference.value)}" cy="8" r="4" fill="var(--${side})"/>`;
    return svg;
  }

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function show(panel, cell, cells, names) {
    const { first, second, kind, says } = cell.dataset;
    const parts = [element("p", `${first} − ${second}`, "names"), element("p", `${kind[0].toUpperCase()}${kind.slice(1)}. ${says}`)];
    for (const side of SIDES) {
      const difference = differenceOf(cell, side);
      const line = element("p", "", "difference");
      line.append(element("span", names[side], side), element("span", difference ? difference.words : "not tested"));
      parts.push(line);
      if (difference) parts.push(bar(difference, reachOf(cells, side), side));
    }
    const ends = element("p", "", "difference ends");
    ends.append(element("span", `← ${second} higher`), element("span", `${first} higher →`));
    panel.replaceChildren(...parts, ends);
  }

  function headings(figure) {
    const heads = [...figure.querySelectorAll("details thead th")];
    const of = (side) => {
      const head = heads.find((one) => one.classList.contains(side));
      return head ? head.textContent.replace(/, difference$/, "") : "";
    };
    return { objective: of("objective"), perceived: of("perceived") };
  }

  function prepare(figure) {
    if (figure.querySelector(":scope > .pair")) return;
    const pictures = [...figure.querySelectorAll(".drawn svg")].map((svg) => ({ svg, cells: [...svg.querySelectorAll(".cell")] }));
    if (!pictures.length || !pictures[0].cells.length) return;
    const names = headings(figure);
    const panel = element("div", "", "pair");
    panel.setAttribute("aria-live", "polite");
    figure.querySelector(".drawn:last-of-type").after(panel);

    function open(at) {
      for (const { cells } of pictures) {
        for (const cell of cells) {
          const isOpen = cell.dataset.at === at;
          cell.setAttribute("aria-pressed", String(isOpen));
          cell.setAttribute("tabindex", isOpen ? "0" : "-1");
          if (isOpen) show(panel, cell, cells, names);
        }
      }
    }

    for (const { svg, cells } of pictures) {
      svg.setAttribute("role", "group");
      for (const cell of cells) {
        cell.setAttribute("role", "button");
        cell.setAttribute("aria-label", `${cell.dataset.first} and ${cell.dataset.second}: ${cell.dataset.kind}`);
        cell.querySelector("title")?.remove(); // the panel says it
        cell.addEventListener("click", () => open(cell.dataset.at));
      }
      svg.addEventListener("keydown", (event) => {
        const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
        const cell = event.target.closest(".cell");
        if (!cell || (!move && event.key !== "Enter" && event.key !== " ")) return;
        event.preventDefault();
        const [row, column] = cell.dataset.at.split(",").map(Number);
        const to = move ? `${row + move[0]},${column + move[1]}` : cell.dataset.at;
        const next = cells.find((one) => one.dataset.at === to);
        if (!next) return;
        open(to);
        next.focus();
      });
    }
    const { cells } = pictures[0];
    const best = (kind) => cells.filter((cell) => cell.dataset.kind === kind)
      .sort((a, b) => Math.abs(differenceOf(b, "perceived").value) - Math.abs(differenceOf(a, "perceived").value))[0];
    open((best("contradict") || best("agree") || cells[0]).dataset.at);
  }

  /* Names that a mark represents: an algorithm, or both of a pair. */
  function namesOf(mark) {
    return mark.dataset.algorithms ? [mark.dataset.algorithms] : [mark.dataset.first, mark.dataset.second];
  }

  function light(figures, mark) {
    const lit = mark ? namesOf(mark) : [];
    figures.classList.toggle("has-lit", lit.length > 0);
    for (const one of figures.querySelectorAll("[data-algorithms], .cell")) {
      const own = namesOf(one);
      const isLit = mark?.matches(".cell") && one.matches(".cell") ? one === mark : own.some((name) => lit.includes(name));
      one.classList.toggle("lit", isLit);
    }
  }

  function prepareAll() {
    for (const figure of document.querySelectorAll("figure#pairs, figure#pair-pairs")) {
      prepare(figure);
      const figures = figure.parentElement;
      figures.addEventListener("pointerover", (event) => {
        if (event.pointerType === "mouse") light(figures, event.target.closest("[data-algorithms], .cell"));
      });
      figures.addEventListener("pointerleave", () => light(figures, null));
    }
  }

  document.addEventListener("DOMContentLoaded", prepareAll);
  document.addEventListener("htmx:afterSettle", prepareAll);
})();
