// A run in sentences.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accountOf, asText } from "../../assets/browser/stage/account.js";
import { drafted, emitted, roundOf, traceOf, treeRound } from "./made_rounds.js";
import { HOSTILE, shownRun } from "./shown_run.js";

/** @import { Round, StageState, Trace } from "../../assets/browser/dist/payloads.js" */

/** @type {(rounds: Round[], more?: Partial<StageState>, trace?: Partial<Trace>) => ReturnType<typeof accountOf>} */
function account(rounds, more = {}, trace = {}) {
  const { data, run } = shownRun(rounds, more, trace);
  return accountOf(data, run);
}

test("what was run, each round in the words of the stage, what came of it", () => {
  const result = { says: "1.5 times as fast: 7 tokens", same: "Identical.", reason: "The draft is cheap.", trusted: true, speedup: 1.5, interval: null, where: "" };
  const told = account([roundOf("ardd"), roundOf("aaaa", "bonus")], { result });
  assert.deepEqual(told.before, ["small drafts for big: draft length 4, greedy.", "The prompt: “Once”."]);
  assert.deepEqual(told.rounds, [
    "Round 1: The draft guesses 4 tokens. The target checks all 4 in one pass. It accepts 1, replaces guess 2 and discards 2 more. Accepted: “t0”. Rejected: “t1”. Discarded: “t2”, “t3”. Correction: “x”.",
    "Round 2: The draft guesses 4 tokens. The target checks all 4 in one pass. It accepts all 4 and adds a bonus token. Accepted: “t0”, “t1”, “t2”, “t3”. Bonus: “x”.",
  ]);
  assert.deepEqual(told.after, [
    "It wrote: “t0xt0t1t2t3x”.",
    "7 tokens in 2 target passes · 5 of 8 guesses accepted: 63 %.",
    "1.5 times as fast: 7 tokens.",
    "Identical.",
    "The draft is cheap.",
    "Figures: measured on a machine.",
  ]);
  assert.equal(asText(told).split("\n").length, 2 + 1 + 2 + 1 + 6);
});

test("a run without rounds says what the stage says", () => {
  assert.deepEqual(account([]).after, ["Waiting for the first round…"]);
  assert.deepEqual(account([]).rounds, []);
});

test("a run that goes on has no result yet", () => {
  const result = { says: "fast", same: "", reason: "", trusted: true, speedup: 1, interval: null, where: "" };
  const { after } = account([roundOf("a", "bonus")], { running: true, result }, { output: { token_ids: [], text: "", stopped_by: null } });
  assert.equal(after[0], "The run goes on. So far it wrote: “t0x”.");
  assert.equal(after.includes("fast."), false);
});

test("a tree, and more guesses of one kind than a sentence names", () => {
  const nodes = ["a-1", "a0", ...Array(12).fill("n-1")].join(" ");
  const [told] = account([treeRound(nodes, "bonus")], {}, { settings: { ...traceOf([]).settings, tree: "14" } }).rounds;
  assert.match(told, /^Round 1: The draft guesses a tree: 14 guesses for 2 places\. The target checks all 14 in one pass\. /);
  assert.match(told, /Accepted: “t0”, “t1”\. Not taken: “t2”, .*“t9” and 4 more\. Bonus: “x”\.$/);
});

test("what cannot be seen has a sign, cut characters are whole in the text, and a special token is none of it", () => {
  const round = { ...roundOf("", "bonus"), drafted: [drafted(1, "a", "⟨C3⟩"), drafted(2, "a", "⟨B6⟩"), drafted(3, "a", "\n\u202e")], emitted: emitted("bonus", 9, "<|end|>") };
  const { rounds, after } = account([round], {}, { prompt: { text: "", token_ids: [], tokens: ["<s>", "مرحبا", " 👩‍👩‍👧", HOSTILE] } });
  assert.equal(after[0], "It wrote: “ö↵⟨U+202E⟩”.");
  assert.match(rounds[0], /Accepted: “ö\(1\/2\)”, “ö\(2\/2\)”, “⟨U\+202E⟩”\./);
  const [, prompt] = account([round], {}, { prompt: { text: "", token_ids: [], tokens: ["<s>", "مرحبا", " 👩‍👩‍👧", HOSTILE] } }).before;
  assert.equal(prompt, `The prompt: “مرحبا 👩‍👩‍👧${HOSTILE}”.`);
});
