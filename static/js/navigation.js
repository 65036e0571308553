// On narrow screens the places of the console and the tabs of a study scroll: bring the current one into sight.
"use strict";

for (const row of document.querySelectorAll(".places, .tabs")) {
  const current = row.querySelector("[aria-current]");
  if (current) row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
}
