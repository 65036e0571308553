"use strict";
/* Specimens of the gallery can be focused, hovered and filled in, but their links and forms lead nowhere. */
(() => {
  const specimens = document.querySelector("[data-specimens]");
  specimens.addEventListener("submit", (event) => event.preventDefault());
  specimens.addEventListener("click", (event) => {
    if (event.target.closest("a")) event.preventDefault();
  });
})();
