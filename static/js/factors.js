/* Levels of factors, added and removed in place: a button's answer replaces the factors, and autosave stores them.
   Without this script the button posts, and the page shows the same. */
"use strict";
document.addEventListener("click", async (event) => {
  const button = event.target.closest(".factors button[name=step]");
  if (!button) return;
  event.preventDefault();
  const row = button.closest("fieldset").id;
  const body = new URLSearchParams(new FormData(button.form));
  body.append(button.name, button.value);
  let fresh = null;
  try {
    const answer = await fetch(location.href, { method: "POST", body });
    if (answer.ok && !answer.redirected) {
      fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("factors");
    }
  } catch { /* said below */ }
  if (!fresh) {
    document.getElementById("save-status").textContent = "Not changed: the site does not answer. Try again.";
    return;
  }
  document.getElementById("factors").replaceWith(fresh);
  const changed = document.getElementById(row);
  const added = button.value.startsWith("add:") && [...changed.querySelectorAll(".level button")].at(-1);
  (added || changed.querySelector("summary")).focus();
  changed.dispatchEvent(new Event("input", { bubbles: true }));
});
