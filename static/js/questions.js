"use strict";
/* Pages of questions: each answer is sent as it is entered (outbox.js), and a page is left once nothing is missing. On the page
   of an item the next question opens below the last answer, and after the last one, given by mouse or finger, the next item
   comes by itself. Without this script all questions show, and the form is sent as a whole. */
(() => {
  const form = document.querySelector("form.questions[method=post], form.about, form.onward[data-next]");
  if (!form) return;
  const { send, once, keepDraft, draftOf, isKept, refuse, say, all } = window.parallaxOutbox;
  const url = new URL(form.getAttribute("action") ?? location.href, location.href).href;
  const next = form.dataset.next; // empty where only the server can make the page that follows; none on the page about the person
  const button = document.getElementById("continue");
  const AFTER_TYPING = 800, AFTER_LAST = 500; // milliseconds
  const questions = [...form.querySelectorAll(".question")];

  /* What a question says untouched stands in a field beside it, so that a page that is older than another tab's answers takes
     none of them back. What is on its way to the server is what the page says untouched from then on. */
  const said = (data, key) => [...data].filter(([name]) => name === key || name === `${key}--declined` || name.startsWith(`${key}.`))
    .map(([name, value]) => [name, value.trim().replaceAll("\r\n", "\n")]).filter(([, value]) => value)
    .map(([name, value]) => `${name}=${value}`).sort().join("\n");
  const marks = () => [...form.querySelectorAll("[name^='was.']")];
  const body = (isLeaving) => {
    const data = new FormData(form);
    const before = marks().map((was) => was.value);
    for (const was of marks()) was.value = said(data, was.name.slice(4));
    if (isLeaving) data.append("continue", "1");
    return { text: new URLSearchParams(data).toString(), undo: () => marks().forEach((was, at) => { was.value = before[at]; }) };
  };
  const store = async () => {
    const { text, undo } = body(false);
    keepDraft(url, text);
    const reply = await send({ url, body: text });
    const note = document.getElementById("saved");
    if (reply.redirect) location.assign(reply.redirect);
    else if (reply.status === 409) {
      undo();
      refuse(reply.text);
    } else if (note && reply.text.includes('id="saved"')) note.textContent = new DOMParser().parseFromString(reply.text, "text/html").body.textContent.trim();
  };
  /* Answers of this page that a page kept by the browser does not show */
  const restore = async () => {
    const isPending = (await all()).some((post) => post.url === url);
    const draft = isPending || document.documentElement.dataset.from ? await draftOf(url) : null;
    if (!draft) return;
    const data = new URLSearchParams(draft.body);
    for (const control of form.elements) {
      if (!control.name || control.type === "hidden" || control.tagName === "BUTTON") continue;
      if (["radio", "checkbox"].includes(control.type)) control.checked = data.getAll(control.name).includes(control.value);
      else control.value = data.get(control.name) ?? "";
    }
    for (const was of marks()) was.value = said([...data], was.name.slice(4));
    form.dispatchEvent(new Event("input", { bubbles: true }));
    for (const field of form.querySelectorAll("[data-slider] [type=text]")) field.dispatchEvent(new Event("input"));
  };

  /* What is missing, as far as a page can say; the server looks again. */
  const isAnswered = (question) => {
    if (question.querySelector("[name$='--declined']:checked")) return true;
    const controls = [...question.querySelectorAll("input:not([type=hidden], [type=range]), select, textarea")].filter((control) => !control.disabled);
    const names = new Set(controls.filter((control) => control.type !== "checkbox").map((control) => control.name));
    const filled = [...names].every((name) => controls.some((control) => control.name === name && (control.type === "radio" ? control.checked : control.value.trim())));
    const boxes = controls.filter((control) => control.type === "checkbox" && !control.name.endsWith("--declined"));
    return filled && (boxes.length === 0 || boxes.some((box) => box.checked));
  };
  const lacking = () => questions.filter((question) => !question.hidden && "required" in question.dataset && !isAnswered(question));
  const mark = (missing) => {
    for (const question of questions) {
      if (!missing.includes(question) || question.querySelector(".problem")) continue;
      const problem = Object.assign(document.createElement("p"), { className: "problem", id: `problem-${question.id}`, textContent: form.dataset.missing });
      problem.setAttribute("role", "alert");
      question.querySelector("legend, label").after(problem);
      const target = question.tagName === "FIELDSET" ? question : question.querySelector("input:not([type=hidden], [type=range]), select, textarea");
      target.setAttribute("aria-describedby", problem.id);
    }
    const first = missing[0].querySelector("input:not([type=hidden], [hidden]), select, textarea");
    first.focus({ preventScroll: true });
    missing[0].scrollIntoView({ block: "center" });
  };
  const unmark = (question) => {
    const problem = question.querySelector(".problem");
    if (!problem || !isAnswered(question)) return;
    problem.remove();
    for (const part of [question, ...question.querySelectorAll("[aria-describedby]")]) if (part.getAttribute("aria-describedby") === problem.id) part.removeAttribute("aria-describedby");
  };

  /* One question at a time on the page of an item: the next opens below, and nothing above moves. */
  const isOneByOne = "advances" in form.dataset;
  const disclose = () => {
    const missing = lacking();
    if (isOneByOne) {
      let isLater = false;
      for (const part of form.querySelectorAll(".question, .described")) {
        part.classList.toggle("later", isLater && !part.querySelector(".problem"));
        if (missing.includes(part)) isLater = true;
      }
    }
    button?.classList.toggle("pending", missing.length > 0);
    return missing.length === 0;
  };
  let isByPointer = false, advance = 0;
  addEventListener("pointerdown", () => { isByPointer = true; clearTimeout(advance); }, true);
  addEventListener("keydown", () => { isByPointer = false; clearTimeout(advance); }, true);

  let typing = 0;
  form.addEventListener("input", (event) => {
    disclose();
    if (next === undefined || !event.target.matches?.("textarea, [type=text]")) return;
    clearTimeout(typing);
    typing = setTimeout(store, AFTER_TYPING);
  });
  let wasWhole = true;
  form.addEventListener("change", (event) => {
    clearTimeout(typing);
    const question = event.target.closest(".question");
    if (question) unmark(question);
    const isWhole = disclose();
    store();
    if (isOneByOne && isWhole && !wasWhole && isByPointer && event.target.type === "radio"
      && !questions.some((each) => !each.hidden && !isAnswered(each))) advance = setTimeout(() => form.requestSubmit(button), AFTER_LAST);
    if (isOneByOne && !isWhole) lacking()[0].scrollIntoView({ block: "nearest" });
  });

  /* Leaving: once the server has it, or at once where the next page is kept in the browser */
  let isLeaving = false;
  form.addEventListener("submit", async (event) => {
    if (next === undefined || event.submitter !== button) return;
    event.preventDefault();
    const missing = lacking();
    if (missing.length) { mark(missing); return; }
    if (isLeaving) return;
    isLeaving = true;
    clearTimeout(typing);
    button.setAttribute("aria-busy", "true");
    const { text } = body(true);
    keepDraft(url, text);
    const answered = send({ url, body: text, next });
    const lost = once("stopped").then(() => null);
    let reply = await Promise.race([answered, lost]);
    if (!reply && await isKept(next)) { location.assign(next); return; }
    if (!reply) {
      say(document.body.dataset.waiting);
      reply = await answered;
    }
    if (reply.status === 409) { // the server says it beside the question
      const leaving = Object.assign(document.createElement("input"), { type: "hidden", name: "continue", value: "1" });
      form.append(leaving);
      form.submit();
    } else location.assign(reply.redirect || next || location.href);
  });

  /* Back by a swipe to the right and by Alt and the left arrow; a trailer plays at once, over the picture. */
  const back = document.querySelector(".dock [data-back]");
  let from = null;
  addEventListener("touchstart", (event) => {
    const [{ clientX: x, clientY: y }] = event.touches;
    from = event.touches.length === 1 && !event.target.closest("input[type=range], video, .reel, .sheet") ? { x, y } : null;
  }, { passive: true });
  addEventListener("touchend", (event) => {
    const [{ clientX: x, clientY: y }] = event.changedTouches;
    if (back && from && x - from.x > 90 && Math.abs(y - from.y) < 50) back.click();
  }, { passive: true });
  addEventListener("keydown", (event) => {
    if (!back || event.key !== "ArrowLeft" || !event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    back.click();
  });
  const player = document.getElementById("player");
  const opener = document.querySelector("[data-plays]");
  opener?.addEventListener("click", (event) => {
    event.preventDefault();
    player.hidden = false;
    player.querySelector("video, audio").play().catch(() => { /* the controls are there */ });
    player.querySelector("button").focus({ preventScroll: true });
  });
  const stop = () => {
    player.querySelector("video, audio").pause();
    player.hidden = true;
    opener.focus({ preventScroll: true });
  };
  player?.querySelector("button").addEventListener("click", stop);
  player?.addEventListener("keydown", (event) => { if (event.key === "Escape") stop(); });

  restore().finally(() => { wasWhole = disclose(); });
})();
