"use strict";
/* Proof of work before entry, done while the text is read: for each part, find a number so that the SHA-256 of
   "challenge:part:number" begins with zero bits. The form waits for it if the button is pressed earlier. Where the
   browser cannot do it, what the page offers instead stays. */
(() => {
  const form = document.querySelector("form[data-work-bits]");
  if (!form || !window.crypto || !window.crypto.subtle) return; // needs HTTPS, or this computer's own address
  const { workBits, workParts, workWaiting } = form.dataset;
  const challenge = form.elements.work.value;
  const instead = form.querySelector("[data-without-script]");
  const status = form.querySelector("[data-work-status]");
  const shift = 32 - Number(workBits);
  const AT_ONCE = 256; // digests are computed beside this thread, which stays free for the reader
  let isDone = false;
  let pressed = null;

  const hasZeros = async (text) => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return new DataView(digest).getUint32(0) >>> shift === 0;
  };
  const solve = async (part) => {
    for (let first = 0; ; first += AT_ONCE) {
      const hits = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => hasZeros(`${challenge}:${part}:${first + at}`)));
      const hit = hits.indexOf(true);
      if (hit >= 0) return first + hit;
    }
  };
  const solveAll = async () => {
    const numbers = [];
    for (let part = 0; part < Number(workParts); part += 1) numbers.push(await solve(part));
    form.elements.work_answer.value = numbers.join(".");
  };

  if (instead) instead.hidden = true;
  form.addEventListener("submit", (event) => {
    if (isDone || !event.submitter || event.submitter.value !== "yes") return;
    event.preventDefault();
    pressed = event.submitter;
    status.textContent = workWaiting;
  });
  solveAll().catch(() => { if (instead) instead.hidden = false; }).then(() => {
    isDone = true;
    status.textContent = "";
    if (pressed) form.requestSubmit(pressed);
  });
})();
