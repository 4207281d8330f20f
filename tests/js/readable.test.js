// Characters that are cut over several tokens: what people read shows characters, the trace has the bytes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { merged, readable, spelled } from "../../assets/trace/readable.js";
import { drafted, emitted, roundOf, traceOf, treeRound } from "./made_rounds.js";

/** @import { Candidate, EmittedToken, Round } from "../../assets/shared/payloads.js" */

const KOENIGIN = [" K", "⟨C3⟩", "⟨B6⟩", "nig", "in"];

test("parts of a character are shown as that character", () => {
  for (const [texts, shown] of [
    [KOENIGIN, [" K", "ö(1/2)", "ö(2/2)", "nig", "in"]],
    [["⟨E5⟩⟨8C⟩", "⟨97⟩", "京"], ["北(1/2)", "北(2/2)", "京"]],
    [["⟨F0⟩", "⟨9F⟩", "⟨98⟩", "⟨80⟩"], ["😀(1/4)", "😀(2/4)", "😀(3/4)", "😀(4/4)"]],
    [[" ⟨E2⟩⟨80⟩", "⟨99⟩t ⟨D9⟩", "⟨85⟩"], [" ’(1/2)", "’(2/2)t م(1/2)", "م(2/2)"]],
    [["⟨C3⟩⟨B6⟩"], ["ö"]],
    [["⟨EF⟩⟨BB⟩⟨BF⟩"], ["\ufeff"]],
    [["", "a", ""], ["", "a", ""]],
  ]) {
    assert.deepEqual(spelled(texts), shown);
  }
});

test("bytes that are no character stay bytes", () => {
  for (const texts of [["⟨C3⟩"], ["⟨C3⟩", "a", "⟨B6⟩"], ["⟨B6⟩", "⟨C3⟩"], ["⟨ED⟩", "⟨A0⟩", "⟨80⟩"], ["⟨token 7⟩", "⟨", "⟩"]]) {
    assert.deepEqual(spelled(texts), texts);
  }
  assert.deepEqual(spelled(["⟨C3⟩", "⟨C3⟩", "⟨B6⟩"]), ["⟨C3⟩", "ö(1/2)", "ö(2/2)"]);
});

test("tokens that share a character are merged", () => {
  assert.deepEqual(merged(KOENIGIN), [" K", "ö", "nig", "in"]);
  assert.deepEqual(merged([" ⟨E2⟩⟨80⟩", "⟨99⟩t ⟨D9⟩", "⟨85⟩", "a"]), [" ’t م", "a"]);
  assert.deepEqual(merged(["a", "⟨C3⟩", "b"]), ["a", "⟨C3⟩", "b"]);
  assert.deepEqual(merged([]), []);
});

const TEXTS = ["", "⟨C3⟩", "⟨B6⟩", "⟨A4⟩", "nig"];
/** @type {Candidate[]} */
const TOPS = [
  [2, "⟨B6⟩", 0.7, 0.2],
  [3, "⟨A4⟩", 0.2, 0.7],
  [4, "nig", 0.1, 0.1],
];

/**
 * @param {string} statuses
 * @param {number[]} ids
 * @param {EmittedToken["kind"]} kind
 * @param {number} own
 * @returns {Round}
 */
function round(statuses, ids, kind, own) {
  const tokens = ids.map((id, i) => ({ ...drafted(id, statuses[i], TEXTS[id]), candidates: TOPS }));
  return { ...roundOf("", kind), drafted: tokens, emitted: { ...emitted(kind, own, TEXTS[own]), residual_top: [[2, "⟨B6⟩", 0.9], [4, "nig", 0.1]] } };
}

/** @param {Round} round */
const texts = ({ drafted: tokens, emitted: { text } }) => [...tokens.map((token) => token.text), text];

test("parts of a character are shown on each token, also over two rounds and after the prompt", () => {
  const [first, second] = readable(traceOf([round("", [], "bonus", 1), round("a", [2], "bonus", 4)])).rounds;
  assert.deepEqual([texts(first), texts(second)], [["ö(1/2)"], ["ö(2/2)", "nig"]]);
  const begun = traceOf([round("a", [2], "bonus", 4)]);
  begun.prompt.tokens = ["Die K", "⟨C3⟩"];
  assert.deepEqual(texts(readable(begun).rounds[0]), ["ö(2/2)", "nig"]);
  const plain = traceOf([roundOf("ar")]);
  assert.equal(readable(plain), plain);
});

test("a rejected part shows what the draft meant, and each alternative as it would go on", () => {
  const [shown] = readable(traceOf([round("ard", [1, 3, 4], "correction", 2)])).rounds;
  assert.deepEqual(texts(shown), ["ö(1/2)", "ä(2/2)", "nig", "ö(2/2)"]);
  assert.deepEqual(shown.drafted[1].candidates?.map(([, text]) => text), ["ö(2/2)", "ä(2/2)", "nig"]);
  assert.deepEqual(shown.emitted.residual_top?.map(([, text]) => text), ["ö(2/2)", "nig"]);
});

test("in a tree a part of a character is read along its own path", () => {
  const made = treeRound("a-1 n-1 r0 a0 n1 n1", "bonus");
  ["⟨C3⟩", "x", "⟨B6⟩", "⟨A4⟩", "y", "z"].forEach((text, i) => (made.drafted[i].text = text));
  const [shown] = readable(traceOf([made])).rounds;
  assert.deepEqual(shown.drafted.map(({ text }) => text), ["ä(1/2)", "x", "ö(2/2)", "ä(2/2)", "y", "z"]);
});
