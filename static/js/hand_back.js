"use strict";
/* After the last page of a session on the interviewer's device: a countdown that can be stopped, then the page on which
   the interviewer unlocks the device. Without JavaScript the link does the same. */
(() => {
  const line = document.querySelector("[data-hand-back]");
  const link = document.getElementById("hand-back");
  const stop = document.getElementById("hand-back-stop");
  if (!line || !link || !stop) return;
  const shown = line.querySelector(".seconds");
  const end = Date.now() + 1000 * Number(line.dataset.handBack);
  line.hidden = stop.hidden = false;
  const timer = setInterval(() => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    shown.textContent = String(left);
    if (left > 0) return;
    clearInterval(timer);
    window.location.replace(link.href);
  }, 250);
  stop.addEventListener("click", () => {
    clearInterval(timer);
    line.hidden = stop.hidden = true;
    document.getElementById("hand-back-status").textContent = stop.dataset.done;
    link.focus();
  });
})();
