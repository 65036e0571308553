// Forms with files: drop files on a field, check their sizes before they are sent, and show how far the upload is.
"use strict";

const inMegabytes = (bytes) => `${(bytes / 2 ** 20).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;

function sizeProblem(input) {
  const most = Number(input.dataset.most);
  const size = [...input.files].reduce((sum, file) => sum + file.size, 0);
  if (size <= most) return "";
  return `${inMegabytes(size)} are too much: the limit for uploads is ${inMegabytes(most)}.`;
}

function checkSize(input) {
  const problem = sizeProblem(input);
  const line = input.closest(".drop").querySelector(".drop-problem");
  line.textContent = problem;
  line.hidden = !problem;
  input.setCustomValidity(problem);
}

function acceptDrops(zone) {
  const input = zone.querySelector("input[type=file]");
  let depth = 0; // enter and leave are sent for every element inside
  const mark = (step) => {
    depth = Math.max(0, depth + step);
    zone.classList.toggle("is-over", depth > 0);
  };
  zone.addEventListener("dragenter", (event) => { event.preventDefault(); mark(1); });
  zone.addEventListener("dragleave", () => mark(-1));
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    depth = 0;
    mark(0);
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
  input.addEventListener("change", () => checkSize(input));
}

function show(request, form) {
  if (request.responseURL && new URL(request.responseURL).href !== new URL(form.action).href) {
    location.assign(request.responseURL); // the next step
    return;
  }
  // The same page with errors: take its main part.
  const page = new DOMParser().parseFromString(request.responseText, "text/html");
  const main = page.querySelector("main");
  if (!main) {
    form.submit();
    return;
  }
  document.querySelector("main").replaceWith(main);
  enhance(main);
  main.focus();
}

function timeLeft(event, startedAt) {
  const seconds = Math.ceil(((event.total - event.loaded) * (Date.now() - startedAt)) / 1000 / Math.max(event.loaded, 1));
  return seconds < 90 ? `about ${seconds} seconds left` : `about ${Math.round(seconds / 60)} minutes left`;
}

function send(form) {
  const shown = form.querySelector(".upload-progress");
  const [bar, line] = [shown.querySelector("progress"), shown.querySelector("[role=status]")];
  const button = form.querySelector("button.go");
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  const startedAt = Date.now();
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    bar.value = event.loaded / event.total;
    line.textContent = event.loaded < event.total
      ? `Uploaded ${inMegabytes(event.loaded)} of ${inMegabytes(event.total)}; ${timeLeft(event, startedAt)}`
      : "Uploaded; reading the first rows …";
  });
  request.addEventListener("load", () => show(request, form));
  request.addEventListener("error", () => {
    button.disabled = false;
    line.textContent = "The connection ended before the upload was complete. Try again.";
  });
  shown.hidden = false;
  line.textContent = "Uploading …";
  request.send(new FormData(form));
  button.disabled = true;
}

function enhance(part) {
  for (const zone of part.querySelectorAll(".drop")) acceptDrops(zone);
  for (const form of part.querySelectorAll("form[data-upload]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form);
    });
  }
}

enhance(document);
