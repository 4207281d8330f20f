// Rounds in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { aloneSentences, plainSentences } from "../../assets/browser/trace/lesson_narration.js";
import { narrate } from "../../assets/browser/trace/narration.js";
import { MODEL, drafted, roundOf, treeRound } from "./made_rounds.js";

/** @import { EmittedToken, Round } from "../../assets/browser/dist/payloads.js" */

/** @typedef {EmittedToken["kind"]} Kind */

const WHEN = { remaining: 40, ends: false };
/** @type {(round: Round, more?: object, method?: object) => string[]} */
const told = (round, more = {}, method = {}) => narrate(round, { method: { ...MODEL, ...method } }, { ...WHEN, ...more });

/** @type {[string, Kind, string][]} */
const JUDGEMENTS = [
  ["aard", "correction", "It accepts 2, replaces guess 3 and discards 1 more."],
  ["arddd", "correction", "It accepts 1, replaces guess 2 and discards 3 more."],
  ["aaar", "correction", "It accepts 3 and replaces guess 4."],
  ["rddd", "correction", "It rejects and replaces the first, and discards 3 more."],
  ["rd", "correction", "It rejects and replaces the first, and discards 1 more."],
  ["r", "correction", "It rejects the token and replaces it."],
  ["aaaa", "bonus", "It accepts all 4 and adds a bonus token."],
  ["aa", "bonus", "It accepts all 2 and adds a bonus token."],
  ["a", "bonus", "It accepts it and adds a bonus token."],
  ["", "bonus", "The target writes one token itself."],
  ["aadd", "none", "It accepts 2. Guess 2 ends the text, so 2 are discarded."],
  ["aad", "none", "It accepts 2. Guess 2 ends the text, so 1 is discarded."],
  ["aaa", "none", "It accepts 3. Guess 3 ends the text."],
  ["a", "none", "It accepts it. The text ends there."],
];

for (const [statuses, kind, sentence] of JUDGEMENTS) {
  test(`a judgement in plain words: ${statuses || "nothing drafted"}, ${kind}`, () => {
    assert.equal(told(roundOf(statuses, kind), { ends: kind === "none" })[2], sentence);
  });
}

const LOOKUP = { proposes: "A match in the text so far gives {tokens}.", nothing: "No match in the text so far: nothing is drafted." };

test("a proposal and its check in plain words", () => {
  const check = (/** @type {string} */ what) => `The target checks ${what} in one pass.`;
  const alone = "The target makes one plain pass.";
  assert.deepEqual(told(roundOf("aaar")).slice(0, 2), ["The draft guesses 4 tokens.", check("all 4")]);
  assert.deepEqual(told(roundOf("ar"), { remaining: 3 }).slice(0, 2), ["The draft guesses 2 tokens.", check("all 2")]);
  assert.deepEqual(told(roundOf("", "bonus"), { remaining: 1 }).slice(0, 2), ["One token is left to write: nothing is drafted.", alone]);
  assert.deepEqual(told(roundOf("", "bonus"), { remaining: 9 }, LOOKUP).slice(0, 2), [LOOKUP.nothing, alone]);
  assert.deepEqual(told(roundOf("r"), { remaining: 9 }, LOOKUP).slice(0, 2), ["A match in the text so far gives 1 token.", check("it")]);
});

test("who drafts, in words", () => {
  const heads = { subject: "the heads on the target", several: true, at_once: true };
  assert.equal(told(roundOf("aard"), {}, heads)[0], "The heads on the target guess 4 tokens, all at once.");
  assert.equal(told(roundOf("r"), {}, heads)[0], "The heads on the target guess 1 token.");
  assert.equal(told(roundOf("ar"), {}, { subject: "the head" })[0], "The head guesses 2 tokens.");
  const person = { by_hand: true, nothing: "You skip: nothing is drafted." };
  assert.equal(told(roundOf("", "bonus"), { remaining: 1 }, person)[0], "You skip: nothing is drafted.");
});

test("a draft with another tokenizer, unreported tokens and the end of the text are said", () => {
  const other = { ...roundOf("", "bonus"), draft_tokens: ["␣wa"] };
  assert.equal(told(other)[0], "The draft’s text does not fit the target’s tokens: nothing is drafted.");
  assert.equal(told(roundOf("ar"), { ends: true })[2], "It accepts 1 and replaces guess 2. The text ends here.");
  const unknown = { ...roundOf("ar"), drafted: [drafted(0, "a"), { ...drafted(1, "r"), text: null }] };
  assert.match(told(unknown)[2], /The tokens that it did not accept are not reported\.$/);
});

/** @type {[string, Kind, string][]} */
const TREES = [
  ["r-1 a-1 n0 n0 r1 r1", "correction", "It accepts 1 guess, then writes its own token."],
  ["a-1 n-1 r0 a0 n1 n1", "bonus", "It accepts 2 guesses and adds a bonus token."],
  ["r-1 r-1 n0 n0 n1 n1", "correction", "It accepts none of the first guesses and writes its own token."],
  ["a-1 n-1", "bonus", "It accepts 1 guess and adds a bonus token."],
  ["r-1 a-1 n0 a1", "none", "It accepts 2 guesses. The text ends there."],
  ["r-1 a-1 n0", "none", "It accepts 1 guess. The text ends there."],
];

test("a tree in words", () => {
  for (const [nodes, kind, sentence] of TREES) assert.equal(told(treeRound(nodes, kind), { ends: kind === "none" }, {})[2], sentence);
  const [proposed, checked] = told(treeRound(TREES[0][0], "correction"), {}, {});
  assert.equal(proposed, "The draft guesses a tree: 6 guesses for 2 places.");
  assert.equal(checked, "The target checks all 6 in one pass.");
  const pair = told(treeRound("r-1 a-1", "bonus"), {}, { subject: "you", several: true });
  assert.deepEqual(pair.slice(0, 2), ["You guess a tree: 2 guesses for 1 place.", "The target checks all 2 in one pass."]);
});

/** @type {[string, Kind, string, string][]} */
const PLAIN_TREES = [
  ["r-1 a-1 n0 r1", "correction", "4 words, several for one place.", "1 stays, and the editor adds a word."],
  ["r-1 r-1", "correction", "2 words, several for one place.", "None of the first words fits, so the editor writes another one."],
  ["a-1 a0", "bonus", "2 words.", "2 stay, and the editor adds one for free."],
  ["r-1 a-1", "none", "2 words, several for one place.", "1 stays. The last of them ends the text."],
];

test("the intern and the editor, in the lessons' plain words", () => {
  for (const [nodes, kind, suggested, judged] of PLAIN_TREES) {
    const [first, , last] = plainSentences(treeRound(nodes, kind));
    assert.deepEqual([first, last], [`The intern suggests ${suggested}`, judged]);
  }
  assert.deepEqual(plainSentences(roundOf("ardd")), [
    "The intern suggests 4 words.",
    "The editor looks at all 4 at once.",
    "1 stays. Word 2 is crossed out, and the editor writes another there. 2 are thrown away unread.",
  ]);
  assert.deepEqual(plainSentences(roundOf("", "bonus"), true), [
    "The intern suggests nothing.",
    "The editor thinks of the next word.",
    "The editor writes one word. The text ends here.",
  ]);
  assert.equal(plainSentences(roundOf("a", "bonus"))[2], "It stays, and the editor adds one for free.");
  assert.equal(plainSentences(roundOf("aad", "none"))[2], "2 stay. The last of them ends the text. 1 is thrown away unread.");
});

test("a pass of the target alone has one sentence for its three phases", () => {
  assert.deepEqual(new Set(aloneSentences(0, 40, "technical")), new Set(["Pass 1 of 40: the target makes one whole pass and writes one token."]));
  assert.match(aloneSentences(3, 40, "plain")[2], /^Word 4 of 40/);
});
