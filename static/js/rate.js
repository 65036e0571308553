"use strict";
/* The rating page: ratings and choices show at once and are sent in order (outbox.js). Each answer brings the tray as the server
   has it; until then the page shows what was pressed. */
(() => {
  const { send, isEmpty, all, keepDraft, draftOf, refuse, say } = window.parallaxOutbox;
  const tray = () => document.getElementById("tray");
  const most = Number(tray().dataset.most), fewest = Number(tray().dataset.asked), hidden = Number(tray().dataset.hidden);
  const page = document.getElementById("done").action;
  const AFTER_A_TAP = 220; // milliseconds in which the mark is seen before its card turns back
  const rated = new Map(); // by item, in the order they were rated: value, address, picture and title
  let extra = null; // a rating too many, until one makes room for it

  /* The tray of the page, or of a reply */
  const readTray = (from) => {
    rated.clear();
    for (const slot of from.querySelectorAll(".slot.full")) {
      const { item, url, value } = slot.dataset;
      const picture = slot.querySelector("img");
      rated.set(item, { value, url, src: picture.getAttribute("src"), title: picture.alt, href: slot.firstElementChild.getAttribute("href") });
    }
  };
  const cardOf = (item) => document.getElementById(`film-${item}`);

  /* What cards and forms say of an item; without one, of all on the page */
  const showForm = (form) => {
    const value = rated.get(form.dataset.item)?.value ?? "";
    const button = form.querySelector(".choose");
    if (button) {
      button.setAttribute("aria-pressed", Boolean(value));
      form.elements.rating.value = value ? "" : "1";
    }
    for (const mark of form.querySelectorAll("[type=radio]")) mark.checked = mark.value === value;
    form.classList.toggle("is-rated", Boolean(value));
    const card = form.closest(".item");
    if (!card) return;
    card.classList.toggle("rated", Boolean(value));
    const badge = card.querySelector(".poster-rating");
    badge.hidden = !value;
    if (button || !value) return;
    const label = form.querySelector(":checked").closest("label");
    const [words] = (label.querySelector(".vh:not(input)") ?? label).textContent.trim().split(" "); // "4 of 5": 4
    badge.textContent = words;
  };
  const showCards = () => { for (const form of document.querySelectorAll("form[data-item]")) showForm(form); };

  const showTray = () => {
    const n = rated.size + hidden;
    const isReady = n >= fewest && n <= most;
    const { few, enough, toGo, one, start, full } = tray().dataset;
    const slots = document.getElementById("slots");
    for (const slot of slots.querySelectorAll(".slot:not(.known)")) slot.remove();
    const known = [...slots.children];
    for (const [item, { src, title, href }] of rated) {
      const slot = document.createElement("li");
      slot.className = "slot full";
      const link = Object.assign(document.createElement("a"), { href });
      link.dataset.item = item;
      link.append(Object.assign(document.createElement("img"), { src, alt: title, width: 44, height: 64 }));
      slot.append(link);
      slots.append(slot);
    }
    slots.append(...known);
    for (let empty = n; empty < fewest; empty += 1) slots.append(Object.assign(document.createElement("li"), { className: "slot" }));
    const count = document.getElementById("count");
    const [number, words] = count.children;
    const toRate = fewest - n;
    const texts = [(isReady ? enough : few).replace("{n}", n), n === 0 ? start : toRate === 1 ? one : toRate > 0 ? toGo.replace("{n}", toRate) : ""];
    [number, words].forEach((part, at) => { if (part.textContent !== texts[at]) part.textContent = texts[at]; });
    document.getElementById("continue").disabled = !isReady;
    const fan = document.getElementById("fan");
    fan.replaceChildren(...[...rated.values()].slice(0, 5).map(({ src }) => Object.assign(document.createElement("img"), { src, alt: "" })));
    fan.hidden = !isReady || rated.size === 0;
    if (!isReady) tray().classList.remove("open");
    tray().classList.toggle("ready", isReady);
    tray().classList.toggle("asks", Boolean(extra));
    document.getElementById("keep-all").hidden = !extra;
    const line = document.getElementById("line");
    line.hidden = !extra;
    line.textContent = extra ? full.replace("{title}", extra.title) : "";
  };
  const show = () => { showCards(); showTray(); };

  const fresh = async () => { // what the server has, after it refused something
    const reply = await fetch(tray().querySelector("form").action);
    readTray(new DOMParser().parseFromString(await reply.text(), "text/html"));
    show();
  };
  let onTheWay = 0;
  const store = async (item, url, value) => {
    onTheWay += 1;
    const { title, src, href } = rated.get(item) ?? {};
    keepDraft(page, JSON.stringify([...rated]));
    const reply = await send({ url, body: new URLSearchParams({ rating: value }).toString(), rating: { item, value, title, src, href } });
    onTheWay -= 1;
    if (reply.redirect) location.assign(reply.redirect);
    else if (reply.status === 409) {
      refuse(reply.text);
      await fresh();
    } else if (reply.text && !onTheWay && !extra) {
      readTray(new DOMParser().parseFromString(reply.text, "text/html"));
      show();
    }
  };
  const rate = (form, value) => {
    const { item } = form.dataset;
    const url = form.getAttribute("action");
    const card = cardOf(item);
    const about = rated.get(item) ?? {
      url, src: card?.dataset.poster ?? form.closest(".details").querySelector("img").getAttribute("src"),
      title: (card?.querySelector(".poster-title") ?? form.closest(".details").querySelector("h1, h2").firstChild).textContent.trim(),
      href: card?.querySelector("[data-opens-sheet]")?.getAttribute("href") ?? "#",
    };
    if (!value) rated.delete(item);
    else if (!rated.has(item) && rated.size + hidden >= most) {
      extra = { ...about, item, value };
      show();
      if (document.getElementById("sheet").open) document.getElementById("sheet").close();
      document.querySelector("#slots a")?.focus({ preventScroll: true });
      return;
    } else rated.set(item, { ...about, value });
    extra = null;
    show();
    store(item, url, value);
  };

  document.addEventListener("change", (event) => {
    const form = event.target.closest("form.rating");
    if (form) rate(form, event.target.value);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-item]")) return;
    event.preventDefault();
    const { submitter } = event;
    if (submitter?.matches(".take-back")) rate(form, "");
    else if (form.matches(".choosing")) rate(form, form.elements.rating.value);
    else if (form.querySelector(":checked")) rate(form, form.querySelector(":checked").value);
    if (!submitter?.matches(".choose") || !isByKey) close(form);
  });
  /* A tap on a mark turns the card back; keys leave it open. */
  let isByKey = false, turning = 0;
  addEventListener("keydown", () => { isByKey = true; }, true);
  addEventListener("pointerdown", () => { isByKey = false; }, true);
  const close = (form) => {
    const card = form.closest("details");
    if (!card) return;
    const hadFocus = card.contains(document.activeElement);
    clearTimeout(turning);
    turning = setTimeout(() => {
      card.open = false;
      if (hadFocus && !extra) card.firstElementChild.focus({ preventScroll: true });
    }, isByKey ? 0 : AFTER_A_TAP);
  };
  document.addEventListener("click", (event) => {
    if (event.target.closest("summary")) clearTimeout(turning); // what is opened meanwhile stays open
    const mark = event.target.closest("form.rating label, form.rating input");
    if (mark && event.detail > 0) close(mark.closest("form"));
    const open = document.querySelector(".item details[open]");
    if (open && event.isTrusted && !open.contains(event.target) && !event.target.closest(".sheet")) open.open = false;
    const slot = event.target.closest("#slots a");
    if (slot) {
      event.preventDefault();
      if (extra) makeRoom(slot.dataset.item);
      else reopen(slot);
    }
    if (event.target.closest("#fan")) {
      tray().classList.add("open");
      document.querySelector("#slots a").focus();
    }
    if (event.target.closest("#keep-all")) {
      const { item } = extra;
      extra = null;
      show();
      cardOf(item)?.querySelector("summary").focus({ preventScroll: true });
    }
  });
  const makeRoom = (item) => {
    const { url } = rated.get(item);
    const added = extra;
    extra = null;
    rated.delete(item);
    rated.set(added.item, added);
    show();
    store(item, url, "");
    store(added.item, added.url, added.value);
    document.getElementById("continue").focus({ preventScroll: true });
  };
  const reopen = (slot) => {
    const card = cardOf(slot.dataset.item);
    if (!card) {
      window.htmx.ajax("GET", slot.href, { target: "#sheet-body", source: slot });
      return;
    }
    card.querySelector("details").open = true;
    card.scrollIntoView({ block: "center" });
  };

  /* An opened card is wholly in sight, and keys go on in it. */
  document.addEventListener("toggle", (event) => {
    const card = event.target;
    if (!card.matches(".item details") || !card.open) return;
    const back = card.querySelector(".back");
    back.scrollIntoView({ block: "nearest" });
    if (isByKey) (back.querySelector(":checked") ?? back.querySelector("[type=radio], .choose")).focus({ preventScroll: true });
  }, true);
  document.addEventListener("keydown", (event) => {
    const open = document.querySelector(".item details[open]");
    if (!open || document.getElementById("sheet").open || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") {
      open.open = false;
      open.firstElementChild.focus();
    }
    const marks = open.querySelectorAll("[type=radio]");
    const mark = marks[Number(event.key) - 1];
    if (mark && marks.length < 10 && event.target.type !== "search") {
      mark.focus();
      mark.click();
    }
  });

  /* The list goes on by itself, until its foot is wanted. */
  const observer = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) target.click();
  }, { rootMargin: "900px" });
  const watch = () => {
    observer.disconnect();
    const more = document.querySelector("#more [data-endless]");
    if (more) observer.observe(more);
  };
  document.addEventListener("htmx:afterSettle", () => { showCards(); watch(); });
  /* A search that did not reach the server is asked again. */
  document.addEventListener("htmx:sendError", (event) => {
    say(document.body.dataset.waiting);
    const { elt } = event.detail;
    setTimeout(() => { if (elt.isConnected) elt.dispatchEvent(new Event(elt.id === "tools" ? "submit" : "click", { cancelable: true })); }, 2000);
  });
  document.addEventListener("htmx:afterRequest", async (event) => { if (event.detail.successful && await isEmpty()) say(""); });

  /* What was rated before a reload: not yet sent, or not on a page that the browser kept */
  const start = async () => {
    readTray(tray());
    const draft = document.documentElement.dataset.from && await draftOf(page);
    if (draft) {
      rated.clear();
      for (const [item, about] of JSON.parse(draft.body)) rated.set(item, about);
    }
    for (const { rating, url } of await all()) {
      if (!rating) continue;
      if (rating.value) rated.set(rating.item, { ...rated.get(rating.item), ...rating, url });
      else rated.delete(rating.item);
    }
    show();
    watch();
  };
  start();
})();
