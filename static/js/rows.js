// Rows of a question's form, added, removed and moved at once. Without it, their buttons post.
"use strict";
(() => {
  const say = (words) => { document.getElementById("row-status").textContent = words; };

  /* Rows of a question's form, numbered from 0 in their order. */
  const number = (section) => {
    const { rows: prefix, noun } = section.dataset;
    const fieldName = new RegExp(`^(id_)?${prefix}(\\d+|__n__)-`);
    const buttonValue = new RegExp(`:${prefix}:.*$`);
    [...section.querySelector("ol").children].forEach((row, place) => {
      for (const control of row.querySelectorAll("[name], [id]")) {
        if (control.name === "step") continue;
        for (const name of ["name", "id"]) {
          const value = control.getAttribute(name);
          if (value) control.setAttribute(name, value.replace(fieldName, `$1${prefix}${place}-`));
        }
      }
      for (const button of row.querySelectorAll("button[name=step]")) {
        button.value = button.value.replace(buttonValue, `:${prefix}:${place}`);
        if (button.dataset.move) button.setAttribute("aria-label", `Move ${noun} ${place + 1} ${button.dataset.move}`);
        else button.setAttribute("aria-label", `Remove ${noun} ${place + 1}`);
      }
    });
  };
  const changeRows = (section, button) => {
    const list = section.querySelector("ol");
    const row = button.closest(".lines > li");
    const { noun } = section.dataset;
    if (!row) {
      list.append(section.querySelector("template").content.cloneNode(true));
      list.lastElementChild.querySelector("input:not([type=hidden]), select, textarea").focus();
      say(`${noun} ${list.children.length} added`);
    } else if (button.dataset.move === undefined) {
      const next = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      (next?.querySelector("[data-remove]") ?? section.querySelector("[data-add]")).focus();
      say(`${noun} removed; ${list.children.length} left`);
    } else {
      if (button.dataset.move === "up") row.previousElementSibling?.before(row);
      else row.nextElementSibling?.after(row);
      button.focus();
      say(`${noun} moved to position ${[...list.children].indexOf(row) + 1} of ${list.children.length}`);
    }
    number(section);
    section.dispatchEvent(new Event("input", { bubbles: true }));
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-rows] button[name=step]");
    if (!button) return;
    event.preventDefault();
    changeRows(button.closest("[data-rows]"), button);
  });
})();
