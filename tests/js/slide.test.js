// Slides of a run: the text of an SVG file, and the frames of a film.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST, lengthOf } from "../../assets/browser/slide/film.js";
import { cellsOf, escaped, inLines, lastLines, wrapped } from "../../assets/browser/slide/sheet.js";
import { runFilm, runSlide } from "../../assets/browser/stage/run_slide.js";
import { drafted, emitted, roundOf, treeRound } from "./made_rounds.js";
import { HOSTILE, shownRun } from "./shown_run.js";

/** @import { Round, StageState, Trace } from "../../assets/browser/dist/payloads.js" */
/** @import { Colours, SlideChip } from "../../assets/browser/slide/sheet.js" */

const NAMES = ["ink", "ground", "mute", "line", "soft", "accepted", "accepted-ground", "rejected", "rejected-ground", "corrected", "corrected-ground"];
const COLOURS = /** @type {Colours} */ (Object.fromEntries(NAMES.map((name) => [name, `colour-${name}`])));
/** @type {SlideChip[]} */
const KEY = [{ look: "proposed", text: "guess" }, { look: "accepted", text: "accepted" }];
const [PROPOSE, CHECK, JUDGE] = [0, 1, 2];

/** @type {(rounds: Round[], more?: Partial<StageState>, trace?: Partial<Trace>) => Parameters<typeof runSlide>[0]} */
const shown = (rounds, more, trace) => ({ ...shownRun(rounds, more, trace), key: KEY, colours: COLOURS });

/**
 * Every text that can be seen, once the file is whole: each element that begins ends, in order.
 * @param {string} file
 */
function textsOf(file) {
  /** @type {string[]} */
  const open = [];
  for (const [, end, name] of file.matchAll(/<(\/?)([a-zA-Z]+)[^<>]*>/g)) end ? assert.equal(open.pop(), name) : open.push(name);
  assert.deepEqual(open, []);
  assert.match(file, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 1280 720" width="1280" height="720"/);
  return [...file.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
}

/** The classes of the chips. @param {string} file */
const looks = (file) => [...file.matchAll(/<g class="([a-z-]+)"/g)].map(([, look]) => look).slice(0, -KEY.length);

test("a step shows what the stage shows of it: guesses, then the check, then what became of them", () => {
  const run = shown([roundOf("ar"), roundOf("aa", "bonus")]);
  assert.deepEqual(looks(runSlide(run, PROPOSE)), ["plain", "proposed", "proposed"]);
  assert.deepEqual(looks(runSlide(run, CHECK)), ["plain", "checked", "checked"]);
  assert.deepEqual(looks(runSlide(run, JUDGE)), ["plain", "accepted", "rejected", "correction"]);
  assert.deepEqual(looks(runSlide(run, 3 + CHECK)), ["plain", "accepted", "rejected", "correction", "checked", "checked"]);
  const texts = textsOf(runSlide(run, 3 + JUDGE));
  for (const text of ["small drafts for big · draft length 4, greedy", "recorded run", "Round 2 of 2", "It accepts all 2 and adds a bonus token.", "✓", "✗", "↻", "+"]) {
    assert.ok(texts.includes(text), text);
  }
  assert.ok(texts.includes("5 tokens in 2 target passes · 3 of 4 guesses accepted: 75 %"));
  assert.ok(texts.includes("specviz · measured on a machine"));
});

test("a person drafts too", () => {
  const run = shown([roundOf("a", "bonus")]);
  run.run.method = { ...run.run.method, by_hand: true };
  assert.ok(textsOf(runSlide(run, JUDGE)).includes("You draft for big · draft length 4, greedy"));
});

test("the result stands at the end, and only there", () => {
  const result = { says: "Twice as fast", same: "", reason: "", trusted: true, speedup: 2, interval: null, where: "" };
  const run = shown([roundOf("a", "bonus")], { result });
  assert.deepEqual([CHECK, JUDGE].map((step) => textsOf(runSlide(run, step)).includes("Twice as fast")), [false, true]);
});

test("a run without rounds says what the stage says, and its film has that one slide", () => {
  const run = shown([]);
  assert.ok(textsOf(runSlide(run, -1)).includes("Waiting for the first round…"));
  const { frames } = runFilm(run, 1);
  assert.equal(frames.length, 1);
  assert.ok(textsOf(frames[0].draw()).includes("Waiting for the first round…"));
});

test("text is text: markup, what XML cannot hold, right to left, line breaks, faces", () => {
  const texts = [HOSTILE, "\u0000\ud800\uffff", "مرحبا", "a\nb", "👩‍👩‍👧"];
  const round = { ...roundOf("", "bonus"), drafted: texts.map((text, i) => drafted(i, "a", text)), emitted: emitted("bonus", 9, HOSTILE) };
  const file = runSlide(shown([round], { badge: HOSTILE, measured: HOSTILE, idle: HOSTILE }), JUDGE);
  const found = textsOf(file);
  assert.equal(file.includes("<script"), false);
  assert.ok(found.includes("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;'"));
  for (const text of ["⟨00⟩\ufffd\ufffd", "مرحبا", "a↵b", "👩‍👩‍👧"]) assert.ok(found.includes(text), text);
  encodeURIComponent(file); // a browser reads it as an address: half a character would be an error
  const long = "discarded, as every longer block failed";
  const key = runSlide({ ...shown([{ ...round, drafted: [drafted(1, "a", long)] }]), key: [{ look: "discarded", text: long }] }, JUDGE);
  assert.deepEqual(textsOf(key).filter((text) => text.startsWith("disc")), ["discarded,␣as␣every␣longer␣bloc…", long], "a token is cut, the key is not");
  assert.equal(escaped("a\ud83d"), "a\ufffd");
  assert.equal(escaped("👧"), "👧");
});

test("a tree stands below the text, its path in it once it is judged; what is folded away is counted", () => {
  const run = shown([treeRound("r-1 a-1 n0 a1", "bonus")], {}, {});
  assert.deepEqual(looks(runSlide(run, PROPOSE)), ["plain", ...Array(4).fill("proposed")]);
  assert.deepEqual(looks(runSlide(run, JUDGE)).filter((look) => look === "accepted").length, 4, "two in the text, two in the tree");
  const wide = shown([treeRound(Array(20).fill("n-1").join(" "), "correction")]);
  assert.ok(textsOf(runSlide(wide, PROPOSE)).some((text) => /^\+1\d guesses$/.test(text)));
  const deep = shown([treeRound(Array.from({ length: 16 }, (_, i) => `a${i - 1}`).join(" "), "bonus")]);
  for (const [, x] of runSlide(deep, CHECK).matchAll(/<rect x="([\d.]+)"/g)) assert.ok(Number(x) < 1240);
});

test("the last lines of a long text are in sight, and the slide says that there is more", () => {
  const run = shown(Array.from({ length: 80 }, () => roundOf("aaaa", "bonus")));
  const file = runSlide(run, 3 * 80 - 1);
  assert.ok(textsOf(file).includes("… and what was written before"));
  for (const [, y] of file.matchAll(/<rect x="[\d.]+" y="([\d.]+)"/g)) assert.ok(Number(y) >= 200 && Number(y) < 600, y);
});

test("a chip has the room of its characters; a line ends where the text has a line break or no more room", () => {
  assert.deepEqual(["ab", "漢字", "é", "👩‍👩‍👧", "م"].map(cellsOf), [2, 4, 1, 2, 1]);
  const how = { size: 20, top: 10, step: 40, left: 0, room: 200 };
  const place = (/** @type {string[]} */ texts) => inLines(texts.map((text) => ({ look: "plain", text })), how);
  assert.deepEqual(place(["aaaa", "bbbb", "cccc", "dddd"]).map(({ y }) => y), [10, 10, 10, 50]);
  assert.deepEqual(place(["a↵", "↵", "b"]).map(({ y }) => y), [10, 10, 50]);
  assert.equal(place(["m".repeat(60)])[0].width, 200);
  assert.deepEqual(lastLines(place(["a↵", "b↵", "c"]), how, 2).map(({ chip, y }) => [chip.text, y]), [["b↵", 10], ["c", 50]]);
  assert.deepEqual(wrapped(Array(30).fill("word").join(" "), 28, 2).length, 2);
});

test("a film lasts as long as the stage plays, and says what it leaves out of a very long run", () => {
  const short = runFilm(shown([roundOf("ar"), roundOf("ar")]), 1);
  assert.deepEqual(short.frames.map(({ ms }) => ms), [750, 650, 1150, 750, 650, 3000]);
  assert.equal(short.left, "");
  assert.equal(runFilm(shown([roundOf("ar"), roundOf("ar")]), 4).frames[0].ms, 750 / 4);
  const long = runFilm(shown(Array.from({ length: 300 }, () => roundOf("ar"))), 1);
  assert.ok(lengthOf(long.frames) <= MOST);
  assert.equal(long.left, "The film has the first 45 of 300 rounds.");
  assert.ok(textsOf(/** @type {{ draw: () => string }} */ (long.frames.at(-1)).draw()).includes(long.left));
  assert.equal(textsOf(long.frames[0].draw()).includes(long.left), false);
});
