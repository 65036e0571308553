"use strict";
/* Comfort on participant pages; everything works without it. Opens details in a sheet, so that the place
   in the list is kept, copies codes, opens questions, and tries again to save. */
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

  /* A form that came back wanting an answer begins at the first that is missing. */
  const wanting = [...document.querySelectorAll(".question:has(.problem), .field.wrong")].find((part) => !part.hidden);
  if (wanting) wanting.querySelector("input, select, textarea").focus();

  /* A page kept by the browser may be older than the answers: ask the server again on the way back. */
  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
  /* A save that did not reach the server is said where it is seen, and tried again until it does: the form
     still holds the answer. */
  const waiting = new Map();
  const note = (text) => {
    let shown = document.getElementById("unsaved");
    if (!text) { if (shown) shown.remove(); return; }
    if (!shown) {
      shown = document.createElement("p");
      shown.id = "unsaved";
      shown.className = "notice";
      shown.setAttribute("role", "alert");
      document.getElementById("main").prepend(shown);
    }
    if (shown.textContent !== text) shown.textContent = text;
  };
  const later = (event) => {
    note(document.body.dataset.unsaved);
    const form = event.detail.elt.closest("form");
    if (!form || form.method !== "post" || waiting.has(form.id)) return;
    waiting.set(form.id, setTimeout(() => {
      waiting.delete(form.id);
      const again = document.getElementById(form.id);
      if (again) again.dispatchEvent(new Event("change", { bubbles: true }));
    }, 2000));
  };
  document.addEventListener("htmx:sendError", later);
  document.addEventListener("htmx:responseError", (event) => {
    const { status, responseText } = event.detail.xhr;
    if (status >= 500) later(event);
    else note(status === 409 && responseText ? responseText : document.body.dataset.unsaved);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful && waiting.size === 0) note("");
  });
})();
