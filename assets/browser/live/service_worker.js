// The service worker of the static site: after one visit the page and the models are there without a network.

/** @typedef {Event & { waitUntil(work: Promise<unknown>): void }} Lasting */
/** @typedef {Event & { request: Request, respondWith(answer: Promise<Response>): void }} Asking */

const SHELF = "specviz-live";
const LIST = "files.json"; // the addresses of the page and its models, written beside this file

async function store() {
  const files = await (await fetch(LIST, { cache: "no-store" })).json();
  const shelf = await caches.open(SHELF);
  const wanted = files.map((/** @type {string} */ file) => new URL(file, location.href).href);
  for (const { url } of await shelf.keys()) if (!wanted.includes(url)) await shelf.delete(url); // of an older site
  await shelf.addAll(wanted);
}

/**
 * The page from the network where there is one, so that a newer site is seen; the rest as it was stored: its address has
 * its checksum. The site has one page, whatever its address is: with `index.html`, or with a query.
 * @param {Request} request
 */
async function answer(request) {
  const page = request.mode === "navigate";
  const stored = await caches.match(page ? "./" : request);
  if (stored && !page) return stored;
  try {
    return await fetch(request);
  } catch (error) {
    if (stored) return stored;
    throw error;
  }
}

addEventListener("install", (event) => /** @type {Lasting} */ (event).waitUntil(store()));
addEventListener("fetch", (event) => {
  const { request, respondWith } = /** @type {Asking} */ (event);
  if (request.method === "GET") respondWith.call(event, answer(request));
});

export default SHELF;
