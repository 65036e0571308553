// On narrow screens the places of the console and the tabs of a study scroll: bring the current one into sight.
"use strict";

function showCurrent() {
  for (const row of document.querySelectorAll(".places, .tabs, .chapters ol")) {
    const current = row.querySelector("[aria-current]");
    if (current) row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
  }
}

showCurrent();
addEventListener("resize", showCurrent);
