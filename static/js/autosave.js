/* Autosave of a stage: its form is posted a moment after a change, and the answer says what is stored. The contract is in
   studies/console/views/autosave.py. Without this script the form's buttons post it. */
"use strict";
(() => {
  const form = document.querySelector("form[data-autosave]");
  const frame = () => document.querySelector("iframe.phone");
  const language = () => document.querySelector("[data-language][aria-pressed=true]")?.dataset.language;

  /* The preview: a new frame in place of the old one, since loading into the old one adds a step to the history. A part of
     the form with an address of its own is drawn there as it is typed. */
  const draft = form?.querySelector("[data-draft]")?.dataset.draft;
  let drawing = 0; // the latest drawing: an earlier one that arrives after it is dropped
  const showPreview = async () => {
    drawing += 1;
    const own = drawing;
    const shown = frame();
    if (!shown) return;
    const fresh = shown.cloneNode();
    const address = new URL(draft ?? shown.src, location.href);
    if (language()) address.searchParams.set("lang", language());
    if (draft) {
      try {
        const answer = await fetch(address, { method: "POST", body: new URLSearchParams(new FormData(form)) });
        const isPage = answer.headers.get("Content-Type")?.startsWith("text/html");
        if (!answer.ok || answer.redirected || !isPage) return;
        fresh.removeAttribute("src");
        fresh.srcdoc = await answer.text();
      } catch { return; /* the earlier preview stays */ }
    } else fresh.src = address.href;
    if (own === drawing) frame().replaceWith(fresh);
  };
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => {
      for (const each of document.querySelectorAll("[data-language]")) each.setAttribute("aria-pressed", each === button);
      showPreview();
    });
  }
  if (!form) return;

  const AFTER_KEY = 200, AFTER_TYPING = 600, AFTER_CHOICE = 100, RETRY = 3000; // milliseconds
  const status = document.getElementById("save-status");
  const notice = document.getElementById("conflict");
  let timer = 0;
  let drawn = 0;
  let saving; // what is under way
  let isDirty = false; // something was entered since the last post
  let isStored = !status.classList.contains("not-saved");
  let clashes = 0; // undecided ones: nothing is posted before they are decided

  const say = (words, kind) => {
    status.textContent = words;
    status.className = kind;
  };
  const controls = (name) => [...form.querySelectorAll(`[name="${CSS.escape(name)}"]`)];
  const isTick = (control) => ["checkbox", "radio"].includes(control.type);
  /* A list of rows has no control of its own name: it is taken from the page as it is stored. */
  const setValues = async (name, values) => {
    const rows = document.getElementById(`rows-${name}`);
    if (rows) rows.replaceWith((await freshPage()).getElementById(rows.id));
    for (const control of controls(name)) {
      if (isTick(control)) control.checked = values.includes(control.value);
      else control.value = values[0] ?? "";
    }
    if (draft) showPreview();
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
        const legend = form.querySelector(`#rows-${CSS.escape(name)} > legend`); // of a factor without a level
        if (legend) legend.after(list);
        else (form.querySelector("[data-errors]") ?? form).prepend(list);
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
  const showConflict = async ({ who, when, fields }) => {
    notice.replaceChildren();
    clashes = 0;
    for (const { name, label, values, is_clash: isClash } of fields) {
      const words = `${who} changed “${label}”${when ? ` at ${when}` : ""}: ${inWords(name, values)}`;
      if (!isClash) {
        await setValues(name, values);
        line(words);
        continue;
      }
      clashes += 1;
      const owner = who.startsWith("You") ? "the other" : `${who}’s`;
      const box = line(
        words,
        button(`Use ${owner}`, async () => { await setValues(name, values); decide(box); }),
        button("Keep mine", () => { decide(box); }),
      );
    }
  };

  /* Parts of the page that follow from what is stored. */
  const freshPage = async () => {
    const answer = await fetch(location.href);
    if (!answer.ok || answer.redirected) throw new Error("the page is not there");
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  };
  const refresh = async () => {
    if (!draft) showPreview();
    try {
      const page = await freshPage();
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
  const received = async (answer) => {
    if (answer.revision) form.elements.revision.value = answer.revision;
    if (answer.status === "refused") {
      say(answer.reason, "not-saved");
      return;
    }
    if (answer.status === "conflict") {
      await showConflict(answer);
      say(`Not saved: ${answer.who} changed this stage`, "not-saved");
      if (!clashes) later(0);
      return;
    }
    clearErrors();
    const isValid = answer.status === "saved";
    isStored = isValid && !isDirty;
    if (isStored) say("Saved", "saved");
    else if (!isValid) {
      showErrors(answer.errors);
      say(`Not saved: ${Object.values(answer.errors)[0]?.[0] ?? "see the field"}`, "not-saved");
    }
    refresh();
  };
  const save = () => {
    clearTimeout(timer);
    saving ??= post().finally(() => { saving = undefined; });
    return saving;
  };
  const post = async () => {
    if (clashes) return;
    isDirty = false;
    isStored = false;
    say("Saving…", "quiet");
    try {
      const answer = await fetch(location.href, {
        method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-Autosave": "1" },
      });
      const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
      if (answer.status >= 500) again("the site does not answer");
      else if (!isJson) say("Not saved: sign in again in another window, then change something here", "not-saved");
      else await received(await answer.json());
    } catch {
      again("offline");
    }
    if (isDirty) later(AFTER_TYPING);
  };
  const changed = (event, milliseconds) => {
    if (event.target.type === "hidden" || event.target.closest(".menu")) return;
    isDirty = true;
    isStored = false;
    if (!clashes) say("Saving…", "quiet");
    later(milliseconds);
    if (!draft) return;
    clearTimeout(drawn);
    drawn = setTimeout(showPreview, AFTER_KEY);
  };
  form.addEventListener("input", (event) => { changed(event, AFTER_TYPING); });
  form.addEventListener("change", (event) => { changed(event, AFTER_CHOICE); });
  addEventListener("online", () => { if (isDirty) later(0); });
  addEventListener("beforeunload", (event) => { if (!isStored) event.preventDefault(); });

  /* What leads away waits until everything is stored; where that cannot be, the browser asks. */
  const stored = async () => {
    await saving;
    if (!isStored) await save();
    return isStored;
  };
  let isLeaving = false;
  form.addEventListener("click", async (event) => {
    const away = event.target.closest("a[href], button[name=act]");
    if (!away || isStored || isLeaving || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    await stored();
    isLeaving = true;
    away.click();
    isLeaving = false;
  });
  form.addEventListener("submit", (event) => {
    if (event.submitter?.name) return;
    event.preventDefault();
    save();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    const menu = event.target.closest(".menu[open]");
    if (!menu) form.querySelector("[data-close]")?.click();
    else {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  for (const each of document.querySelectorAll("[data-save]")) each.hidden = true;
  document.querySelector("[data-next]")?.addEventListener("click", async (event) => {
    event.preventDefault();
    const address = event.currentTarget.dataset.next;
    if (await stored()) location.assign(address);
    else form.querySelector("[aria-invalid=true]")?.focus();
  });
  if (draft) showPreview();
})();
