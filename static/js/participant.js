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

  /* What a question says untouched stands in a field beside it, so that a page that is older than another tab's
     answers takes none of them back. Once the server has what the page says, that is what it says untouched. */
  const said = (data, key) => [...data].filter(([name]) => name === key || name === `${key}--declined` || name.startsWith(`${key}.`))
    .map(([name, value]) => [name, value.trim().replaceAll("\r\n", "\n")]).filter(([, value]) => value)
    .map(([name, value]) => `${name}=${value}`).sort().join("\n");
  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, requestConfig, successful } = event.detail;
    if (!successful || !(elt instanceof HTMLFormElement) || requestConfig.verb !== "post") return;
    elt.querySelectorAll("[name^='was.']").forEach((was) => { was.value = said(requestConfig.formData, was.name.slice(4)); });
  });

  /* A form that is sent as a page says all that it holds: an answer to what was sent by itself before, which comes
     late, changes nothing. After a stopped page load, changed answers are stored one by one again. */
  let leaving = null;
  document.addEventListener("submit", (event) => { if (!event.defaultPrevented) leaving = event.target; });
  for (const name of ["htmx:beforeRequest", "htmx:beforeOnLoad"]) document.addEventListener(name, (event) => {
    if (leaving && event.detail.elt === leaving) event.preventDefault();
  });
  document.addEventListener("input", () => { leaving = null; }, true);

  /* A form that came back with missing answers begins at the first of them. */
  const incomplete = [...document.querySelectorAll(".question:has(.problem)")].find((part) => !part.hidden);
  if (incomplete) (incomplete.querySelector("[aria-invalid]") || incomplete.querySelector("input:not([type=hidden], [hidden]), select, textarea")).focus();

  /* A page kept by the browser may be older than the answers: ask the server again on the way back. */
  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
  /* A save that did not reach the server is said where it is seen, and tried again until it does: the form
     still holds the answer. */
  const waiting = new Map(); // by form: what is to be pressed or sent again
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
    if (!form || form.method !== "post") return;
    if (!waiting.has(form.id)) setTimeout(() => {
      const again = document.getElementById(waiting.get(form.id));
      waiting.delete(form.id);
      if (again && again.matches("button")) again.click(); // a rating that is taken back
      else if (again) again.dispatchEvent(new Event("change", { bubbles: true }));
    }, 2000);
    waiting.set(form.id, event.detail.elt.id || form.id);
  };
  document.addEventListener("htmx:sendError", later);
  document.addEventListener("htmx:responseError", (event) => {
    const { status, responseText } = event.detail.xhr;
    if (status >= 500 || status === 429) later(event);
    else note(status === 409 && responseText ? responseText : document.body.dataset.unsaved);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful && waiting.size === 0) note("");
  });
})();
