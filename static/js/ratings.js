// The histogram of ratings: two handles move with the fields of the limits, and the bars follow.
"use strict";
(() => {
  document.addEventListener("htmx:afterSettle", start);
  start();

  function start() {
    const [disliked, liked] = ["disliked", "liked"].map((name) => document.querySelector(`select[name=${name}]`));
    const scale = document.querySelector(".histogram .scale");
    if (!disliked || !scale || document.querySelector(".handles")) return;
    const slots = [...scale.children];
    const points = slots.filter((slot) => slot.matches(".used, .unused"));
    const columns = [...document.querySelectorAll(".bars .column")];
    const columnOf = new Map(slots.map((slot, at) => [slot, columns.find((column) => Math.floor(column.getAttribute("x")) === at)]));
    // The fields name points; of a scale without steps, the edges of its parts. A handle stands between two points.
    const shift = disliked.options.length > points.length ? 0 : 1;
    const row = document.createElement("div");
    row.className = "handles";
    for (const [name, value] of [["--before", slots.indexOf(points[0])], ["--points", points.length], ["--slots", slots.length]]) {
      row.style.setProperty(name, value);
    }
    const handles = [disliked, liked].map((field, at) => {
      const handle = document.createElement("input");
      Object.assign(handle, { type: "range", min: 0, max: points.length, step: 1 });
      handle.setAttribute("aria-label", field.labels[0].textContent);
      handle.addEventListener("input", () => {
        const offset = at === 0 ? shift : 0;
        const last = field.options.length - 1;
        field.selectedIndex = Math.min(Math.max(Number(handle.value) - offset, 0), last);
        update(field);
      });
      row.append(handle);
      return handle;
    });
    scale.after(row);
    const sum = (slots) => slots.reduce((total, slot) => total + Number(slot.dataset.n), 0);
    const say = (name, n) => {
      document.querySelector(`[data-count=${name}]`).textContent = `${n.toLocaleString("en")} ratings`;
    };

    function update(changed) {
      if (disliked.selectedIndex >= liked.selectedIndex) {
        const last = liked.options.length - 1;
        if (changed === liked) liked.selectedIndex = Math.max(liked.selectedIndex, 1);
        else disliked.selectedIndex = Math.min(disliked.selectedIndex, last - 1);
        if (changed === liked) disliked.selectedIndex = liked.selectedIndex - 1;
        else liked.selectedIndex = disliked.selectedIndex + 1;
      }
      const low = disliked.selectedIndex + shift;
      const high = liked.selectedIndex;
      const ends = [disliked.options[0].text, liked.options[liked.options.length - 1].text];
      [handles[0].value, handles[1].value] = [low, high];
      handles[0].setAttribute("aria-valuetext", `${ends[0]} to ${disliked.value}`);
      handles[1].setAttribute("aria-valuetext", `${liked.value} to ${ends[1]}`);
      points.forEach((point, at) => {
        columnOf.get(point)?.setAttribute("class", `column ${at < low ? "low" : at >= high ? "high" : "mid"}`);
      });
      say("disliked", sum(points.slice(0, low)));
      say("liked", sum(points.slice(high)));
    }
    for (const field of [disliked, liked]) field.addEventListener("change", () => update(field));
    update(disliked);
  }
})();
