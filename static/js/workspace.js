// The pages of a study: copy the participant link; keep folded-out details open when htmx refreshes their part.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue; // without a secure context the link remains readable
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = "Copied";
    document.getElementById("copy-status").textContent = "Link copied";
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

const openDetails = new Set();
document.body.addEventListener("htmx:beforeSwap", (event) => {
  openDetails.clear();
  for (const details of event.detail.target.querySelectorAll("details[id][open]")) openDetails.add(details.id);
});
document.body.addEventListener("htmx:afterSettle", () => {
  for (const id of openDetails) document.getElementById(id)?.setAttribute("open", "");
});
