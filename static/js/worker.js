"use strict";
/* Pages of participants without a connection: the page as it was last shown or fetched ahead, or else one that says what is the
   matter and tries again by itself. With a connection the server always has the first word. */
const PAGES = "parallax-pages", FILES = "parallax-files";
const PATIENCE = 5000; // milliseconds for the server, where there is something to show instead

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode === "navigate") event.respondWith(page(request));
  else if (request.method === "GET" && ["font", "image", "script", "style"].includes(request.destination)) event.respondWith(file(request));
});

async function page(request) {
  const cache = await caches.open(PAGES);
  const kept = request.method === "GET" ? await cache.match(request.url) : undefined;
  try {
    const late = new Promise((_, reject) => { if (kept) setTimeout(reject, PATIENCE); });
    const reply = await Promise.race([fetch(request), late]);
    if (reply.status >= 500 && kept) throw new Error(String(reply.status));
    // An answer to a form is no page to come back to.
    if (reply.ok && request.method === "GET" && !reply.redirected) await cache.put(request.url, reply.clone());
    return reply;
  } catch {
    if (!kept) return await cache.match(new URL("offline", registration.scope)) ?? Response.error();
    const html = (await kept.text()).replace("<html ", '<html data-from="browser" ');
    const headers = {};
    for (const name of ["Content-Type", "Content-Security-Policy", "Referrer-Policy"]) if (kept.headers.has(name)) headers[name] = kept.headers.get(name);
    return new Response(html, { headers });
  }
}

/* Files whose names say their version are taken from here at once; pictures from the server, while it can be reached. */
async function file(request) {
  const isStatic = new URL(request.url).pathname.includes("/static/");
  if (isStatic) {
    const cache = await caches.open(FILES);
    const kept = await cache.match(request);
    if (kept) return kept;
    const reply = await fetch(request);
    if (reply.ok) await cache.put(request, reply.clone());
    return reply;
  }
  try { return await fetch(request); }
  catch (problem) {
    const kept = await caches.match(request);
    if (kept) return kept;
    throw problem;
  }
}
