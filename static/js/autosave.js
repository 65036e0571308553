/* Autosave of a stage: its form is posted a moment after a change, and the answer says what is stored. The contract is in
   studies/console/views/autosave.py. Without this script the form's buttons post it. */
"use strict";
(() => {
  const form = document.querySelector("form[data-autosave]");
  const frame = () => document.querySelector("iframe.phone");
  const language = () => document.querySelector("[data-language][aria-pressed=true]")?.dataset.language;

  /* The preview: a new frame in place of the old one, since loading into the old one adds a step to the history. */
  const showPreview = () => {
    const shown = frame();
    if (!shown) return;
    const fresh = shown.cloneNode();
    const address = new URL(shown.src);
    if (language()) address.searchParams.set("lang", language());
    fresh.src = address.href;
    shown.replaceWith(fresh);
  };
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => {
      for (const each of document.querySelectorAll("[data-language]")) each.setAttribute("aria-pressed", each === button);
      showPreview();
    });
  }
  if (!form) return;

  const AFTER_TYPING = 600, AFTER_CHOICE = 100, RETRY = 3000; // milliseconds
  const status = document.getElementById("save-status");
  const notice = document.getElementById("conflict");
  let timer = 0;
  let isSaving = false;
  let isDirty = false; // something was entered since the last post
  let isStored = !status.classList.contains("not-saved");
  let clashes = 0; // undecided ones: nothing is posted before they are decided

  const say = (words, kind) => {
    status.textContent = words;
    status.className = kind;
  };
  const controls = (name) => [...form.querySelectorAll(`[name="${CSS.escape(name)}"]`)];
  const isTick = (control) => ["checkbox", "radio"].includes(control.type);
  const setValues = (name, values) => {
    for (const control of controls(name)) {
      if (isTick(control)) control.checked = values.includes(control.value);
      else control.value = values[0] ?? "";
    }
  };
  const inWords = (name, values) => {
    const named = controls(name);
    const words = named.some(isTick)
      ? named.filter((control) => values.includes(control.value)).map((control) => control.labels[0]?.textContent.trim())
      : values.map((value) => [...(named[0]?.options ?? [])].find((option) => option.value === value)?.textContent ?? value);
    return words.join(", ") || "nothing";
  };

  /* Errors stand beside their fields, as the server renders them. */
  const clearErrors = () => {
    for (const list of form.querySelectorAll(".errorlist, .problems")) list.remove();
    for (const control of form.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
  };
  const showErrors = (errors) => {
    for (const [name, sentences] of Object.entries(errors)) {
      const [control] = controls(name);
      const list = document.createElement("ul");
      list.className = "errorlist";
      list.append(...sentences.map((sentence) => Object.assign(document.createElement("li"), { textContent: sentence })));
      if (!control) {
        form.prepend(list);
        continue;
      }
      list.id = `${control.id}_error`;
      for (let fold = control.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
      for (const each of controls(name)) each.setAttribute("aria-invalid", "true");
      control.setAttribute("aria-describedby", list.id);
      const group = isTick(control) ? control.closest("fieldset")?.querySelector("legend") : null;
      if (group) group.after(list);
      else control.before(list);
    }
  };

  /* What another researcher stored is shown before anything here is. */
  const button = (words, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: words });
    made.addEventListener("click", act);
    return made;
  };
  const line = (words, ...buttons) => {
    const box = document.createElement("div");
    box.className = "notice";
    box.append(Object.assign(document.createElement("p"), { textContent: words }), ...buttons);
    notice.append(box);
    return box;
  };
  const decide = (box) => {
    const next = box.nextElementSibling?.querySelector("button") ?? status;
    box.remove();
    clashes -= 1;
    next.focus();
    if (!clashes) save();
  };
  const showConflict = ({ who, when, fields }) => {
    notice.replaceChildren();
    clashes = 0;
    for (const { name, label, values, is_clash: isClash } of fields) {
      const words = `${who} changed “${label}”${when ? ` at ${when}` : ""}: ${inWords(name, values)}`;
      if (!isClash) {
        setValues(name, values);
        line(words);
        continue;
      }
      clashes += 1;
      const owner = who.startsWith("You") ? "the other" : `${who}’s`;
      const box = line(
        words,
        button(`Use ${owner}`, () => { setValues(name, values); decide(box); }),
        button("Keep mine", () => { decide(box); }),
      );
    }
  };

  /* Parts of the page that follow from what is stored. */
  const refresh = async () => {
    showPreview();
    try {
      const answer = await fetch(location.href);
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const fresh = page.getElementById(part.id);
        if (fresh && !part.contains(document.activeElement)) part.replaceWith(fresh);
      }
    } catch { /* the parts stay as they are until the next save */ }
  };

  const later = (milliseconds) => {
    clearTimeout(timer);
    timer = setTimeout(save, milliseconds);
  };
  const again = (words) => {
    say(`Not saved: ${words}, trying again`, "not-saved");
    isDirty = true;
    later(RETRY);
  };
  const received = (answer) => {
    if (answer.revision) form.elements.revision.value = answer.revision;
    if (answer.status === "refused") {
      say(answer.reason, "not-saved");
      return;
    }
    if (answer.status === "conflict") {
      showConflict(answer);
      say(`Not saved: ${answer.who} changed this stage`, "not-saved");
      if (!clashes) later(0);
      return;
    }
    clearErrors();
    isStored = answer.status === "saved";
    if (isStored) say("Saved", "saved");
    else {
      showErrors(answer.errors);
      say(`Not saved: ${Object.values(answer.errors)[0]?.[0] ?? "see the field"}`, "not-saved");
    }
    refresh();
  };
  async function save() {
    clearTimeout(timer);
    if (isSaving || clashes) return;
    isSaving = true;
    isDirty = false;
    isStored = false;
    say("Saving…", "quiet");
    try {
      const answer = await fetch(location.pathname, {
        method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-Autosave": "1" },
      });
      const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
      if (answer.status >= 500) again("the site does not answer");
      else if (!isJson) say("Not saved: sign in again in another window, then change something here", "not-saved");
      else received(await answer.json());
    } catch {
      again("offline");
    } finally {
      isSaving = false;
    }
    if (isDirty) later(AFTER_TYPING);
  }
  const changed = (event, milliseconds) => {
    if (event.target.type === "hidden") return;
    isDirty = true;
    isStored = false;
    if (!clashes) say("Saving…", "quiet");
    later(milliseconds);
  };
  form.addEventListener("input", (event) => { changed(event, AFTER_TYPING); });
  form.addEventListener("change", (event) => { changed(event, AFTER_CHOICE); });
  addEventListener("online", () => { if (isDirty) later(0); });
  addEventListener("beforeunload", (event) => { if (!isStored) event.preventDefault(); });

  for (const each of document.querySelectorAll("[data-save]")) each.hidden = true;
  document.querySelector("[data-next]")?.addEventListener("click", async (event) => {
    event.preventDefault();
    const address = event.currentTarget.dataset.next;
    if (!isStored) await save();
    if (isStored) location.assign(address);
    else form.querySelector("[aria-invalid=true]")?.focus();
  });
})();
