// The questionnaire's editor: order by drag and by buttons, rows without saving, and the preview. Without it, buttons post.
"use strict";
(() => {
  const say = (id, words) => {
    const status = document.getElementById(id);
    if (status) status.textContent = words;
  };

  // A new frame in place of the old one: loading into the old one would add a step to the browser's history.
  const reload = (frame, html) => {
    const fresh = frame.cloneNode();
    if (html !== undefined) {
      fresh.removeAttribute("src");
      fresh.srcdoc = html;
    }
    frame.replaceWith(fresh);
  };

  /* The order of questions. */
  const keysOf = (list) => [...list.children].map((line) => line.dataset.key);
  const showEnds = (list) => {
    [...list.children].forEach((line, place, lines) => {
      line.querySelector("[data-move=up]").disabled = place === 0;
      line.querySelector("[data-move=down]").disabled = place === lines.length - 1;
    });
  };
  const putInOrder = (list, keys) => {
    const lines = new Map([...list.children].map((line) => [line.dataset.key, line]));
    const focused = document.activeElement;
    keys.forEach((key) => { list.append(lines.get(key)); });
    showEnds(list);
    if (list.contains(focused)) focused.focus(); // what is moved loses the focus
  };
  const save = async (list, line, before) => {
    showEnds(list);
    const body = new URLSearchParams();
    body.append("csrfmiddlewaretoken", list.querySelector("[name=csrfmiddlewaretoken]").value);
    body.append("block", list.dataset.block);
    for (const key of keysOf(list)) body.append("key", key);
    let problems = ["The order could not be saved. Check your connection and reload the page."];
    try {
      const answer = await fetch(list.dataset.order, { method: "POST", body });
      problems = (await answer.json()).problems;
    } catch { /* the sentence above says so */ }
    if (problems.length) {
      putInOrder(list, before);
      say("order-status", problems.join(" "));
      return;
    }
    const place = keysOf(list).indexOf(line.dataset.key) + 1;
    say("order-status", `“${line.dataset.text}” is now question ${place} of ${list.children.length}.`);
    document.querySelector(".undo")?.remove(); // another change ends it
    const frame = document.querySelector(`iframe[data-block="${list.dataset.block}"]`);
    if (frame) reload(frame);
  };

  // One request at a time, so that the last order is the one that stays.
  let saving = Promise.resolve();
  const queue = (list, line, before) => { saving = saving.then(() => save(list, line, before)); };

  const step = (list, line, button) => {
    const before = keysOf(list);
    if (button.dataset.move === "up") line.previousElementSibling?.before(line);
    else line.nextElementSibling?.after(line);
    showEnds(list);
    (button.disabled ? line.querySelector("[data-move]:not(:disabled)") : button)?.focus();
    queue(list, line, before);
  };

  // The others move around the line: one that leaves the document loses its pointer.
  const putBefore = (list, line, next) => {
    const lines = [...list.children];
    const own = lines.indexOf(line);
    const target = next ? lines.indexOf(next) : lines.length;
    if (target < own) line.after(...lines.slice(target, own));
    else line.before(...lines.slice(own + 1, target));
  };

  const drag = (list, line, handle, start) => {
    const before = keysOf(list);
    handle.setPointerCapture(start.pointerId);
    line.classList.add("dragged");
    const move = (event) => {
      const others = [...list.children].filter((other) => other !== line);
      const next = others.find((other) => {
        const { top, height } = other.getBoundingClientRect();
        return event.clientY < top + height / 2;
      });
      putBefore(list, line, next);
      const edge = 60; // pixels from the edge of the window or of a long list, where it scrolls
      const box = list.getBoundingClientRect();
      for (const [target, top, bottom] of [[window, 0, innerHeight], [list, box.top, box.bottom]]) {
        if (event.clientY < top + edge) target.scrollBy(0, -12);
        else if (event.clientY > bottom - edge) target.scrollBy(0, 12);
      }
    };
    const stop = (isKept) => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", drop);
      handle.removeEventListener("pointercancel", cancel);
      document.removeEventListener("keydown", onEscape);
      line.classList.remove("dragged");
      if (!isKept) putInOrder(list, before);
      else if (keysOf(list).join() !== before.join()) queue(list, line, before);
    };
    const drop = () => { stop(true); };
    const cancel = () => { stop(false); };
    const onEscape = (event) => { if (event.key === "Escape") cancel(); };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", drop);
    handle.addEventListener("pointercancel", cancel);
    document.addEventListener("keydown", onEscape);
  };

  for (const list of document.querySelectorAll(".question-list[data-order]")) {
    list.addEventListener("click", (event) => {
      const button = event.target.closest("[data-move]");
      if (!button) return;
      event.preventDefault();
      step(list, button.closest("li"), button);
    });
    for (const handle of list.querySelectorAll("[data-drag]")) {
      handle.hidden = false;
      handle.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        drag(list, handle.closest("li"), handle, event);
      });
    }
  }

  /* Rows of a question's form, numbered from 0 in their order. */
  const number = (section) => {
    const { rows: prefix, noun } = section.dataset;
    const fieldName = new RegExp(`^(id_)?${prefix}(\\d+|__n__)-`);
    const buttonValue = new RegExp(`:${prefix}:.*$`);
    [...section.querySelector("ol").children].forEach((row, place) => {
      for (const control of row.querySelectorAll("[name], [id]")) {
        if (control.name === "rows") continue;
        for (const name of ["name", "id"]) {
          const value = control.getAttribute(name);
          if (value) control.setAttribute(name, value.replace(fieldName, `$1${prefix}${place}-`));
        }
      }
      for (const button of row.querySelectorAll("button[name=rows]")) {
        button.value = button.value.replace(buttonValue, `:${prefix}:${place}`);
        if (button.dataset.move) button.setAttribute("aria-label", `Move ${noun} ${place + 1} ${button.dataset.move}`);
        else button.setAttribute("aria-label", `Remove ${noun} ${place + 1}`);
      }
    });
  };
  const changeRows = (section, button) => {
    const list = section.querySelector("ol");
    const row = button.closest("li");
    const { noun } = section.dataset;
    if (!row) {
      list.append(section.querySelector("template").content.cloneNode(true));
      list.lastElementChild.querySelector("input:not([type=hidden]), select, textarea").focus();
      say("row-status", `${noun} ${list.children.length} added`);
    } else if (button.dataset.move === undefined) {
      const next = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      (next?.querySelector("[data-remove]") ?? section.querySelector("[data-add]")).focus();
      say("row-status", `${noun} removed; ${list.children.length} left`);
    } else {
      if (button.dataset.move === "up") row.previousElementSibling?.before(row);
      else row.nextElementSibling?.after(row);
      button.focus();
      say("row-status", `${noun} moved to position ${[...list.children].indexOf(row) + 1} of ${list.children.length}`);
    }
    number(section);
    section.dispatchEvent(new Event("input", { bubbles: true }));
  };
  for (const section of document.querySelectorAll("[data-rows]")) {
    section.addEventListener("click", (event) => {
      const button = event.target.closest("button[name=rows]");
      if (!button) return;
      event.preventDefault();
      changeRows(section, button);
    });
  }

  /* The preview of a question, a moment after its form changed. */
  const form = document.querySelector("form[data-preview]");
  if (!form) return;
  let timer = 0;
  let latest = 0;
  const show = async () => {
    latest += 1;
    const asked = latest;
    try {
      const answer = await fetch(form.dataset.preview, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (!answer.headers.get("Content-Type").startsWith("text/html")) return;
      const html = await answer.text();
      if (asked === latest && answer.ok && !answer.redirected) reload(document.querySelector("iframe[name=preview]"), html);
    } catch { /* the earlier preview stays */ }
  };
  const showSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(show, 400);
  };
  form.addEventListener("input", showSoon);
  document.getElementById("preview-language")?.addEventListener("change", showSoon);
  document.querySelector("button[formtarget=preview]").hidden = true;
  show();
})();
