// Move the focus to the first invalid field, and unfold what hides it; links to a field do the same.
"use strict";
(() => {
  const FIELDS = "[aria-invalid=true]:not([type=hidden])";
  const VISIBLE = "input:not([type=hidden]), select, textarea";
  const reveal = (field) => {
    for (let fold = field.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
    (field.matches(VISIBLE) ? field : (field.querySelector(VISIBLE) ?? field)).focus();
  };
  const focusFirst = () => {
    const named = location.hash.startsWith("#id_") && document.getElementById(location.hash.slice(1));
    if (named) reveal(named);
    const invalid = [...document.querySelectorAll(`main ${FIELDS}`)].find((field) => field.closest("details") || field.checkVisibility());
    if (invalid) reveal(invalid);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest(":is(.problems, .open-points) a[href^='#']");
    const field = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!field) return;
    event.preventDefault();
    reveal(field);
    field.scrollIntoView({ block: "center" });
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.querySelector(".problems")) focusFirst();
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", focusFirst);
  else focusFirst();
})();
