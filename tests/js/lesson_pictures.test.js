// The lessons' pictures of one pass, of the target alone and of many texts: what they show and what a screen reader says.

import assert from "node:assert/strict";
import { test } from "node:test";

import { aloneInWords, writtenAt } from "../../assets/browser/stage/alone.js";
import { passInWords, placesOf } from "../../assets/browser/stage/pass.js";
import { textsInWords } from "../../assets/browser/stage/texts.js";

/** @import { Chip, ChipStatus, RoundPayload } from "../../assets/browser/dist/payloads.js" */

/**
 * @param {Array<[string, ChipStatus]>} tokens
 * @returns {RoundPayload}
 */
function round(...tokens) {
  const after = { emitted: 1, accepted: 0, drafted: 0, judged: 0, acceptance: null, judgement: null, speedup: null, positions: [] };
  const chips = /** @type {Chip[]} */ (tokens.map(([text, status]) => ({ text, status })));
  return { sentences: ["", "", ""], chips, ms: [0, 0, 8, 8], alone: null, after };
}

const PROMPT = { hidden: 0, tokens: ["<|endoftext|>", "One", " day"] };
const RUN = {
  prompt: PROMPT,
  rounds: [
    round([" a", "accepted"], [" dog", "accepted"], [" ran", "bonus"]),
    round([" to", "accepted"], [" my", "rejected"], [" house", "discarded"], [" the", "correction"]),
    round([" park", "accepted"], [".", "accepted"]),
  ],
};

/** @param {number} index */
const shown = (index) => placesOf(RUN, index).map(({ read, expected, next }) => [read, expected?.text ?? null, next?.text ?? null]);

test("a pass reads the last token and the guesses, and the last prediction is the bonus", () => {
  assert.deepEqual(shown(0), [[" day", " a", " a"], [" a", " dog", " dog"], [" dog", " ran", null]]);
});

test("at a wrong guess the prediction is the correction, and what follows the wrong guess is not used", () => {
  assert.deepEqual(shown(1), [[" ran", " to", " to"], [" to", " the", " my"], [" my", null, " house"], [" house", null, null]]);
});

test("after an accepted end of text there is no prediction to use", () => {
  assert.deepEqual(shown(2).at(-1), [".", null, null]);
});

test("the pass is said phase by phase, and no prediction before it is judged", () => {
  const enters = "target model: one pass: last token “ran”, guess 1 “to”, guess 2 “my”, guess 3 “house”.";
  assert.equal(passInWords(RUN, 1, "technical", "propose"), enters);
  assert.ok(!passInWords(RUN, 1, "technical", "check").includes("“the”"));
  const judged = passInWords(RUN, 1, "technical", "judge");
  assert.ok(judged.startsWith(enters));
  for (const part of ["after last token “to”: ✓ guess 1", "after guess 1 “the”: ✗ guess 2 was ␣my", "after guess 2 not used"]) assert.ok(judged.includes(part), part);
  assert.ok(passInWords(RUN, 0, "technical", "judge").includes("“ran”: the bonus"));
  assert.ok(!/token|target|pass|model/.test(passInWords(RUN, 0, "plain", "judge")));
});

test("the target alone: each pass reads all before it, without special tokens, and has its time", () => {
  const alone = { prompt: PROMPT, rounds: [round([" a", "own"]), { ...round([" dog", "own"]), ms: /** @type {[number, number, number, number]} */ ([8, 8, 20, 20]) }] };
  assert.deepEqual(writtenAt(alone, 1), { before: "One day a", token: " dog" });
  const said = aloneInWords(alone, 1, "technical");
  for (const part of ["target model", "“dog”", "pass 2: 12.0 ms"]) assert.ok(said.includes(part), part);
  assert.ok(!/token|target|model/.test(aloneInWords(alone, 1, "plain")));
});

test("a pass over sixteen texts is said with its measured times and its empty places", () => {
  const batch = { texts: 16, tokens: 5, alone: 1.56, together: 2.06, empty: 0.46 };
  const said = textsInWords(batch, "technical");
  for (const part of ["16 texts, 5 tokens of each", "46 % of the places are empty", "one text, 5 tokens at once: 1.56×", "of each: 2.06×"]) assert.ok(said.includes(part), part);
  assert.ok(!/%|token/.test(textsInWords(batch, "plain")));
});
