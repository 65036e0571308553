"use strict";
/* Answers on their way. What a page sends is first stored in this browser (IndexedDB), then sent in order, one at a time,
   until the server has it: a lost connection, a reload or a closed page loses nothing. Sending twice stores once, as the
   server's answers to the same post are the same. Pages that follow are fetched ahead, so that participants go on without a
   connection (worker.js serves them). Without this script forms are sent by the browser.

   parallaxOutbox.send({ url, body, next }) resolves with the server's reply, however late: { status, text, redirect };
   .isEmpty() says whether all was sent; .arrived() resolves once it was. */
window.parallaxOutbox = (() => {
  const FIRST_WAIT = 1000, LONGEST_WAIT = 3000, PATIENCE = 12000; // milliseconds
  const words = document.body.dataset;

  /* The stores: `posts` by number, and `drafts`, the last body of each form by its address. */
  const memory = { posts: new Map(), drafts: new Map(), last: 0 }; // where storage is refused, a reload loses what was not sent
  const database = new Promise((resolve) => {
    const stop = () => resolve(null);
    try {
      const opening = indexedDB.open("parallax", 1);
      opening.onupgradeneeded = () => {
        opening.result.createObjectStore("posts", { keyPath: "id", autoIncrement: true });
        opening.result.createObjectStore("drafts", { keyPath: "url" });
      };
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = stop;
    } catch { stop(); }
  });
  const inStore = async (name, mode, work, inMemory) => {
    const db = await database;
    if (!db) return inMemory(memory[name]);
    return new Promise((resolve, reject) => {
      const transaction = db.transaction(name, mode);
      const request = work(transaction.objectStore(name));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  };
  const add = (post) => inStore("posts", "readwrite", (store) => store.add(post), (map) => {
    memory.last += 1;
    map.set(memory.last, { ...post, id: memory.last });
    return memory.last;
  });
  const all = () => inStore("posts", "readonly", (store) => store.getAll(), (map) => [...map.values()]);
  const remove = (id) => inStore("posts", "readwrite", (store) => store.delete(id), (map) => map.delete(id));
  const keepDraft = (url, body) => inStore("drafts", "readwrite", (store) => store.put({ url, body }), (map) => map.set(url, { url, body }));
  const draftOf = (url) => inStore("drafts", "readonly", (store) => store.get(url), (map) => map.get(url));
  const forget = () => inStore("drafts", "readwrite", (store) => store.clear(), (map) => map.clear());

  /* One line says what is the matter: in the bar at the bottom, where it moves nothing. */
  const line = document.getElementById("connection");
  (document.querySelector(".tray, .dock") ?? document.body).prepend(line);
  const say = (text) => {
    if (line.textContent !== text) line.textContent = text;
    line.hidden = !text;
  };

  const waiting = new Map(); // by number of a post of this page: the post, and what its reply resolves
  let tab = String(Math.random()); // the same on all pages of a tab
  try {
    tab = sessionStorage.getItem("tab") ?? tab;
    sessionStorage.setItem("tab", tab);
  } catch { /* where storage is refused, each page has its own */ }
  const sent = new EventTarget(); // "stopped": the server was not reached; "empty": it has everything
  let isFlushing = false, isAskedAgain = false, isStopped = false, timer = 0, wait = FIRST_WAIT, refusal = "";

  const post = async ({ url, body, at }) => {
    const headers = { "HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded", "X-Client-Time": String(at) };
    const reply = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(PATIENCE) });
    const redirect = reply.headers.get("HX-Redirect") ?? "";
    if (reply.status === 423) throw Object.assign(new Error("paused"), { redirect });
    if (reply.status >= 500 || [408, 429].includes(reply.status)) throw new Error(String(reply.status));
    return { status: reply.status, text: await reply.text(), redirect };
  };
  /* A post of an earlier page of this tab that was refused, or led elsewhere than expected, leads there when all else is
     sent. What another tab sent of this page is sent again, as the reply went to that tab. */
  const deliver = async () => {
    let lead = "";
    let own;
    for (;;) {
      own = [...waiting.keys()]; // stored before the list is read
      const [first] = await all();
      if (!first) break;
      const reply = await post(first);
      await remove(first.id);
      const mine = waiting.get(first.id);
      waiting.delete(first.id);
      if (mine) mine.resolve(reply);
      else if (first.tab !== tab) continue;
      else if (reply.status === 409) lead = first.url;
      else if (reply.redirect && reply.redirect !== first.next) lead = reply.redirect;
    }
    for (const id of own) {
      const { resolve, sending } = waiting.get(id);
      resolve(await post(sending));
      waiting.delete(id);
    }
    if (lead) location.assign(lead);
  };
  const flush = async () => {
    if (isFlushing) { isAskedAgain = true; return; }
    isFlushing = true;
    clearTimeout(timer);
    try {
      do {
        isAskedAgain = false;
        // Where nothing is stored there is nothing to share with other tabs, and a page in a sandbox may not lock.
        await (navigator.locks && await database ? navigator.locks.request("parallax-outbox", deliver) : deliver());
      } while (isAskedAgain);
      wait = FIRST_WAIT;
      isStopped = false;
      say(refusal);
      sent.dispatchEvent(new Event("empty"));
    } catch (problem) {
      isStopped = true;
      if (problem.redirect) { // to the page that says that the study is paused; what is not sent stays until it continues
        if (new URL(problem.redirect, location).pathname !== location.pathname) location.assign(problem.redirect);
        return;
      }
      say(problem instanceof TypeError || problem.name === "TimeoutError" ? words.offline : words.unsaved);
      sent.dispatchEvent(new Event("stopped"));
      timer = setTimeout(flush, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    } finally {
      isFlushing = false;
    }
  };
  const send = async (message) => {
    const sending = { ...message, tab, at: Date.now() };
    const id = await add(sending);
    return new Promise((resolve) => {
      waiting.set(id, { resolve, sending });
      flush();
    });
  };
  const once = (name) => new Promise((resolve) => { sent.addEventListener(name, resolve, { once: true }); });
  const isEmpty = async () => (await all()).length === 0;
  const arrived = async () => {
    const arrival = once("empty");
    flush();
    await arrival;
  };
  for (const name of ["online", "pageshow"]) addEventListener(name, flush);
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") flush(); });

  /* What follows this page is kept where worker.js finds it, with its pictures. */
  const PAGES = "parallax-pages";
  const fetchAhead = async (url) => {
    const cache = await caches.open(PAGES);
    for (let next = url; next;) {
      let page = await cache.match(next);
      if (!page) {
        const reply = await fetch(next, { headers: { "X-Ahead": "1" } });
        if (!reply.ok || reply.redirected) return;
        await cache.put(next, reply.clone());
        page = reply;
      }
      const shown = new DOMParser().parseFromString(await page.text(), "text/html");
      for (const { src } of shown.images) if (!(await cache.match(src))) await cache.add(src);
      next = shown.querySelector("form[data-next]")?.dataset.next;
    }
  };
  const isKept = async (url) => Boolean(url && "caches" in window && navigator.serviceWorker?.controller && await caches.match(url));
  const begin = async () => {
    if ("caches" in window && words.step === "message") await caches.delete(PAGES); // "paused" must not be shown for a page later
    if ("caches" in window && words.worker) {
      if (["thanks", "withdraw"].includes(words.step)) { // nothing of a participant stays on a device that others use
        await caches.delete(PAGES);
        await forget();
        return;
      }
      await navigator.serviceWorker?.register(words.worker, { scope: words.scope });
      const shown = document.getElementById("offline-page");
      const cache = await caches.open(PAGES);
      const html = `<!doctype html><html lang="${document.documentElement.lang}">${shown.innerHTML}</html>`;
      await cache.put(new URL("offline", new URL(words.scope, location)), new Response(html, { headers: { "Content-Type": "text/html; charset=utf-8" } }));
      await fetchAhead(document.querySelector("form[data-next]")?.dataset.next);
    }
  };
  addEventListener("load", () => { begin().catch(() => { /* without a connection or a place to keep them: the next page tries again */ }); });

  /* Pages that only the server can make wait for it, and go on by themselves. */
  const reach = async () => { // resolves once the server answers
    const icon = document.querySelector("link[rel=icon]").href;
    for (;;) {
      try { return await fetch(icon, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(PATIENCE) }); }
      catch {
        say(words.waiting);
        await Promise.race([new Promise((resolve) => { setTimeout(resolve, FIRST_WAIT); }), new Promise((resolve) => { addEventListener("online", resolve, { once: true }); })]);
      }
    }
  };
  let released = null;
  addEventListener("submit", async (event) => { // after the page's own scripts, which send some forms themselves
    const { target: form, submitter } = event;
    if (event.defaultPrevented || form === released || form.method !== "post") return;
    if (navigator.onLine && !isStopped && !isFlushing) return;
    event.preventDefault();
    submitter?.setAttribute("aria-busy", "true");
    if (isStopped || !navigator.onLine) say(words.waiting);
    sent.addEventListener("stopped", () => say(words.waiting));
    await arrived();
    await reach();
    released = form;
    form.requestSubmit(submitter);
  });
  /* A refused answer stays said until something else is entered. */
  const refuse = (text) => { refusal = text; say(text); };
  document.addEventListener("input", () => { if (refusal) refuse(""); });

  return { send, isEmpty, arrived, once, all, keepDraft, draftOf, isKept, refuse, say };
})();
