// On narrow screens the places of the console and the tabs of a study scroll: bring the current one into sight.
"use strict";

const ROWS = ".places, .tabs, .chapters ol";

function showCurrent() {
  for (const row of document.querySelectorAll(ROWS)) {
    const current = row.querySelector("[aria-current]");
    if (current) row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
  }
}

showCurrent();
addEventListener("resize", () => {
  showCurrent();
  // A browser keeps the last state of an animation along a scroll that is no longer one: begin it again.
  for (const row of document.querySelectorAll(ROWS)) {
    row.style.animation = "none";
    row.getBoundingClientRect();
    row.style.animation = "";
  }
});
