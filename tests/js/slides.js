// What stands on a slide: its texts, and how its chips look.

import assert from "node:assert/strict";

const NAMES = ["ink", "ground", "mute", "line", "soft", "accepted", "accepted-ground", "rejected", "rejected-ground", "corrected", "corrected-ground"];
/** What a slide needs beside its run: the signs of its key, and colours. */
export const KEY = {
  key: [{ look: "proposed", text: "guess" }, { look: "accepted", text: "accepted" }],
  colours: Object.fromEntries(NAMES.map((name) => [name, `colour-${name}`])),
};

/** Every text that can be seen, once the file is whole: each element that begins ends, in order. */
export function textsOf(file) {
  const open = [];
  for (const [, end, name] of file.matchAll(/<(\/?)([a-zA-Z]+)[^<>]*>/g)) end ? assert.equal(open.pop(), name) : open.push(name);
  assert.deepEqual(open, []);
  assert.match(file, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 1280 720" width="1280" height="720"/);
  return [...file.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
}

/** How the chips look, but for those of the key. */
export const looksOf = (file) => [...file.matchAll(/<g class="([a-z-]+)"/g)].map(([, look]) => look).slice(0, -KEY.key.length);
