// The service worker of the static site: after one visit the page and the models are there without a network.

declare const DIGEST: string; // of what the site holds, see specviz/player/live.py

type Lasting = Event & { waitUntil(work: Promise<unknown>): void };
type Asking = Event & { request: Request; respondWith(answer: Promise<Response>): void };

const SHELVES = "specviz-live";
const SHELF = `${SHELVES}-${DIGEST}`;
const LIST = "files.json"; // the addresses of the page and its models, written beside this file

/** The page is fetched; a model that an older site stored is the same: its address has its checksum. */
async function store() {
  const files: string[] = await (await fetch(LIST, { cache: "no-store" })).json();
  const shelf = await caches.open(SHELF);
  for (const file of files) {
    const url = new URL(file, location.href).href;
    const stored = file === "./" ? undefined : await caches.match(url);
    await (stored ? shelf.put(url, stored) : shelf.add(new Request(url, { cache: "reload" })));
  }
}

/** The page from the network where there is one, so that a newer site is seen; the rest as it was stored. The site has one page, with any query. */
async function answer(request: Request) {
  const page = request.mode === "navigate";
  const stored = await (await caches.open(SHELF)).match(page ? "./" : request);
  if (stored && !page) return stored;
  try {
    return await fetch(request);
  } catch (error) {
    if (stored) return stored;
    throw error;
  }
}

addEventListener("install", (event) => (event as Lasting).waitUntil(store()));
addEventListener("activate", (event) => {
  const older = (name: string) => name.startsWith(SHELVES) && name !== SHELF;
  (event as Lasting).waitUntil(caches.keys().then((names) => Promise.all(names.filter(older).map((name) => caches.delete(name)))));
});
addEventListener("fetch", (event) => {
  const { request } = event as Asking;
  if (request.method === "GET") (event as Asking).respondWith(answer(request));
});

export {};
