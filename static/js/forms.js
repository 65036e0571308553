// Move the focus to the first invalid field, and unfold what hides it; the summary's links do the same.
"use strict";
(() => {
  const FIELDS = "[aria-invalid=true]:not([type=hidden])";
  const reveal = (field) => {
    for (let fold = field.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
    field.focus();
  };
  const focusFirst = () => {
    const invalid = [...document.querySelectorAll(`main ${FIELDS}`)].find((field) => field.closest("details") || field.checkVisibility());
    if (invalid) reveal(invalid);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".problems a[href^='#']");
    const field = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!field) return;
    event.preventDefault();
    reveal(field);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.querySelector(".problems")) focusFirst();
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", focusFirst);
  else focusFirst();
})();
