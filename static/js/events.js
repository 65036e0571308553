"use strict";
/* Tells the server when a page was shown, and how long it was in sight: never in the participant's way, and
   nothing is lost. What is to be told is kept in the browser until the server has it; each event has an id of
   its own, so that one told twice is stored once. Without this script the server still notes its own events. */
(() => {
  const { events: url, page, code } = document.body.dataset;
  if (!url) return;
  const { rank, occasion } = document.body.dataset;
  const where = { page, rank: Number(rank) || 0, ...(occasion && { occasion: Number(occasion) }) };
  const TOLD = `parallax.told.${code}.`; // to be sent; one entry an event, so that two tabs do not overwrite another
  const OPEN = `parallax.open.${code}.`; // a page in sight, as it stood a few seconds ago
  const BATCH = 40, MOST_KEPT = 1000, TICK = 5000, DEAD = 4 * TICK, SLOWEST = 60000;

  const store = (() => {
    try {
      localStorage.setItem("parallax.try", "1");
      localStorage.removeItem("parallax.try");
      return localStorage;
    } catch {
      const map = new Map(); // storage is refused: a reload loses what was not sent, and nothing else changes
      return {
        getItem: (key) => map.get(key) ?? null,
        setItem: (key, value) => map.set(key, value),
        removeItem: (key) => map.delete(key),
        key: (n) => [...map.keys()][n] ?? null,
        get length() { return map.size; },
      };
    }
  })();
  const keysOf = (prefix) => Array.from({ length: store.length }, (_, n) => store.key(n)).filter((key) => key && key.startsWith(prefix));
  const keep = (key, value) => { try { store.setItem(key, JSON.stringify(value)); } catch { /* full: this one is not told */ } };
  const read = (key) => { try { return JSON.parse(store.getItem(key)); } catch { store.removeItem(key); return null; } };
  const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const tell = (event) => { if (keysOf(TOLD).length < MOST_KEPT) keep(TOLD + event.id, event); };

  /* The page in sight: a stretch begins when it comes into sight and ends when it goes. */
  const view = newId();
  let stretch = null, hiddenSince = performance.now(), ticked = 0;
  const inSeconds = (milliseconds) => Math.max(0, Math.round(milliseconds) / 1000);
  const told = () => ({
    id: stretch.id, kind: "page_left", ...where, view, at: Date.now(),
    seconds: inSeconds(performance.now() - stretch.began), hidden_seconds: inSeconds(stretch.hidden),
  });
  const note = () => {
    const gap = performance.now() - ticked;
    if (ticked && gap > DEAD) { stretch.began += gap; stretch.hidden += gap; } // the computer slept
    ticked = performance.now();
    keep(OPEN + stretch.id, told());
  };
  const begin = () => {
    if (stretch) return;
    const now = performance.now();
    stretch = { id: newId(), began: now, hidden: now - hiddenSince };
    ticked = 0;
    note();
  };
  const end = () => {
    if (!stretch) return;
    note();
    tell(told());
    store.removeItem(OPEN + stretch.id);
    stretch = null;
    hiddenSince = performance.now();
  };
  setInterval(() => { if (stretch) note(); }, TICK);

  /* Samples that are played, in studies that record it: each stretch with the item that it is of. */
  const playing = new Map(); // player to when it began
  const stopped = (player) => {
    if (!playing.has(player)) return;
    tell({ id: newId(), kind: "sample_played", ...where, view, at: Date.now(), item: player.dataset.item, seconds: inSeconds(performance.now() - playing.get(player)) });
    playing.delete(player);
    later(400);
  };
  if ("timesSamples" in document.body.dataset) {
    document.addEventListener("playing", ({ target }) => { if (target.dataset.item && !playing.has(target)) playing.set(target, performance.now()); }, true);
    for (const name of ["pause", "waiting", "ended"]) document.addEventListener(name, ({ target }) => { stopped(target); }, true);
    window.addEventListener("pagehide", () => { for (const player of playing.keys()) stopped(player); });
  }

  /* Sending: one batch at a time, forgotten once the server has answered, tried again later where it has not. */
  let isSending = false, waits = TICK, timer = 0;
  const batch = () => keysOf(TOLD).slice(0, BATCH).map(read).filter(Boolean);
  const later = (milliseconds) => { clearTimeout(timer); timer = setTimeout(send, milliseconds); };
  const send = async () => {
    const events = batch();
    if (isSending || events.length === 0) return;
    isSending = true;
    try {
      const reply = await fetch(url, {
        method: "POST", keepalive: true, headers: { "Content-Type": "application/json" }, body: JSON.stringify({ events }),
      });
      // What the server will never take is not sent for ever: only a fault that may pass is tried again.
      if (!reply.ok && (reply.status >= 500 || reply.status === 408 || reply.status === 429)) throw new Error(String(reply.status));
      for (const event of events) store.removeItem(TOLD + event.id);
      waits = TICK;
      if (keysOf(TOLD).length) later(0);
    } catch {
      later(waits);
      waits = Math.min(2 * waits, SLOWEST);
    } finally {
      isSending = false;
    }
  };
  /* At the end of a page no response is awaited: unacknowledged events are sent again with the next page. */
  const sendLast = () => {
    const events = batch();
    if (events.length) navigator.sendBeacon(url, new Blob([JSON.stringify({ events })], { type: "application/json" }));
  };

  let staysHere = false; // the next page is ours, and will send what this one leaves
  document.addEventListener("submit", (event) => { staysHere = !event.defaultPrevented; });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link) return;
    if (link.pathname.includes("/trailer/")) link.search = `?at=${Date.now()}`;
    const isOurs = link.origin === location.origin && !link.target && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    staysHere = isOurs && !link.hasAttribute("hx-get");
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") { begin(); later(0); return; }
    end();
    if (!staysHere) sendLast();
  });
  window.addEventListener("pagehide", () => { end(); if (!staysHere) sendLast(); });
  window.addEventListener("pageshow", () => { staysHere = false; if (document.visibilityState === "visible") begin(); });
  window.addEventListener("online", () => later(0));
  document.addEventListener("htmx:configRequest", (event) => { event.detail.headers["X-Client-Time"] = String(Date.now()); });

  /* Pages that ended without a word, as when the browser was killed: what was last noted of them is told. */
  keysOf(OPEN).forEach((key) => {
    const last = read(key);
    if (!last || Date.now() - last.at < DEAD) return; // another tab has it in sight
    tell(last);
    store.removeItem(key);
  });
  tell({ id: newId(), kind: "page_shown", ...where, view, at: Date.now() });
  if (document.visibilityState === "visible") begin();
  later(400); // after the page itself has come
})();
