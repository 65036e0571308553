"use strict";
/* Comfort on participant pages; everything works without it. Opens details in a sheet, so that the place
   in the list is kept, and copies the completion code. */
(() => {
  const sheet = document.getElementById("sheet");
  let opener = null;

  document.addEventListener("click", (event) => {
    const copier = event.target.closest("[data-copies]");
    if (copier) {
      const text = document.getElementById(copier.dataset.copies).textContent;
      navigator.clipboard.writeText(text).then(() => { copier.textContent = copier.dataset.done; });
    }
    if (event.target === sheet) sheet.close(); // the backdrop
  });
  if (navigator.clipboard) {
    document.querySelectorAll("[data-copies]").forEach((button) => { button.hidden = false; });
  }

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.closest("[data-opens-sheet]")) opener = event.target;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "sheet-body" && !sheet.open) sheet.showModal();
  });
  if (sheet) sheet.addEventListener("close", () => { if (opener && opener.isConnected) opener.focus(); });

  /* A question or wording that depends on an earlier answer shows only then; the server looks at it again.
     data-when: conditions joined by "&": name (answered), name=value, name!=value. */
  const holds = (form, condition) => {
    const [, name, sign, value] = condition.match(/^([^!=]+)(!?=)?(.*)$/);
    const control = form.elements.namedItem(name);
    const given = control ? control.value : "";
    return !sign ? Boolean(given) : sign === "=" ? given === value : given !== value;
  };
  const showDependants = () => document.querySelectorAll("[data-when]").forEach((part) => {
    part.hidden = !part.dataset.when.split("&").every((condition) => holds(part.closest("form"), condition));
  });
  document.addEventListener("change", showDependants);
  showDependants();

  /* A page kept by the browser may be older than the answers: ask the server again on the way back. */
  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
  /* A save that did not reach the server is said where the answer was given. */
  const say = (event) => {
    let note = document.getElementById("offline");
    if (!note) {
      note = document.createElement("p");
      note.id = "offline";
      note.className = "notice";
      note.setAttribute("role", "alert");
      document.getElementById("main").prepend(note);
    }
    note.textContent = document.documentElement.lang === "it"
      ? "Non riusciamo a salvare. Controlla la connessione e riprova."
      : "We could not save that. Check your connection and try again.";
    note.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("htmx:sendError", say);
  document.addEventListener("htmx:responseError", say);
  document.addEventListener("htmx:afterRequest", (event) => {
    const note = document.getElementById("offline");
    if (note && event.detail.successful) note.remove();
  });
})();
