"use strict";
/* Comfort on participant pages; everything works without it. Opens details in a sheet, so that the place
   in the list is kept, copies codes and opens questions. */
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
  if (sheet) sheet.addEventListener("close", () => {
    sheet.querySelectorAll("audio, video").forEach((player) => { player.pause(); });
    if (opener && opener.isConnected) opener.focus();
  });

  /* A question or wording that depends on an earlier answer shows only then; the server checks again. data-condition
     is JSON, see conditions.js. A hidden question counts as not answered. */
  const { holds, number } = window.parallaxConditions;
  const named = (form, name) => [...form.querySelectorAll("[name]")].filter((control) => control.type !== "hidden"
    && (control.name === name || control.name.startsWith(`${name}.`)));
  const given = (form, name) => {
    if (form.querySelector(`[name="${CSS.escape(name)}--declined"]:checked`)) return [];
    const controls = named(form, name).filter((control) => !control.closest(".question[hidden]"));
    const own = controls.filter((control) => control.name === name);
    return (own.length ? own : controls)
      .filter((control) => ["radio", "checkbox"].includes(control.type) ? control.checked : control.value.trim())
      .map((control) => control.value.trim()).filter((value) => value && value !== "--declined");
  };
  const showDependants = () => document.querySelectorAll("[data-condition]").forEach((part) => {
    const form = part.closest("form");
    part.hidden = !holds(JSON.parse(part.dataset.condition), (name) => given(form, name));
    if (part.matches(".own-words")) part.control.disabled = part.hidden; // words of a cleared answer are not sent
  });
  document.addEventListener("input", showDependants);
  showDependants();

  /* A slider has no answer until it is touched; the field beside it holds the answer, and takes one typed. */
  document.querySelectorAll("[data-slider]").forEach((slider) => {
    const range = slider.querySelector("[type=range]");
    const field = slider.querySelector("[type=text]");
    const show = () => {
      const isAnswered = field.value.trim() !== "";
      range.classList.toggle("untouched", !isAnswered);
      if (isAnswered) { range.value = number(field.value); range.removeAttribute("aria-valuetext"); }
      else range.setAttribute("aria-valuetext", range.dataset.untouched);
    };
    const take = () => { field.value = range.value; show(); showDependants(); };
    range.addEventListener("input", take);
    range.addEventListener("click", take); // its middle may be meant, where nothing moves
    range.addEventListener("keydown", (event) => { if ([" ", "Enter"].includes(event.key)) { event.preventDefault(); take(); range.dispatchEvent(new Event("change", { bubbles: true })); } });
    field.addEventListener("input", show);
    range.hidden = false;
    show();
  });

  /* An answer that goes with no other takes the others back, and so does declining. */
  document.addEventListener("change", (event) => {
    const control = event.target;
    const question = control.closest(".question");
    if (!question || (control.type === "checkbox" && !control.checked)) return;
    const isDeclining = control.name.endsWith("--declined");
    const decline = question.querySelector("[name$='--declined']");
    if (decline && !isDeclining) decline.checked = false;
    question.querySelectorAll("input:not([type=hidden], [type=range]), textarea").forEach((other) => {
      if (other === control) return;
      if (isDeclining && !["radio", "checkbox"].includes(other.type)) other.value = "";
      const goes = isDeclining || (control.type === "checkbox" && other.type === "checkbox" && other.name === control.name
        && ("exclusive" in control.dataset || "exclusive" in other.dataset));
      if (goes) other.checked = false;
    });
    if (isDeclining) for (const field of question.querySelectorAll("[data-slider] [type=text]")) field.dispatchEvent(new Event("input"));
  }, true);
  document.addEventListener("change", showDependants, true); // before the form is sent, and after what it takes back

  /* A form that came back with missing answers begins at the first of them. */
  const incomplete = [...document.querySelectorAll(".question:has(.problem)")].find((part) => !part.hidden);
  if (incomplete) (incomplete.querySelector("[aria-invalid]") || incomplete.querySelector("input:not([type=hidden], [hidden]), select, textarea")).focus();

  /* Reloading a form that was refused asks for its page, and does not send what was missing then once more. */
  if (incomplete) history.replaceState(history.state, "", location.href);

  /* A page kept by the browser may be older than the answers: ask the server again on the way back. */
  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
})();
