// What is computed in Python and in JavaScript alike: the tables of cases that tests/unit/test_both.py reads too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { sentOf } from "../../assets/browser/live/sent.js";
import { COLUMNS, cellsOf, csvOf } from "../../assets/browser/live/tried.js";
import { comparedInWords, costsOf, firstWords, judged, machineInWords, studentT, timedOf } from "../../assets/browser/live/outcome.js";
import { verificationSteps } from "../../assets/browser/shared/theory.js";
import { nameOf, resultOf } from "../../assets/browser/trace/outcome.js";
import { draftName } from "../../assets/browser/trace/words.js";
import { merged, readable, spelled } from "../../assets/browser/trace/readable.js";
import { everyLength } from "../../assets/browser/trace/replay.js";
import { running } from "../../assets/browser/trace/rounds.js";
import { MOST_ROWS, treeRows } from "../../assets/browser/trace/tree_rows.js";
import { roundFrom, runFrom, table } from "./both.js";
import { MODEL, guessesOf, traceOf } from "./made_rounds.js";

const MADE = { methods: { "": MODEL }, phases: [], settings: traceOf([]).settings, unusual: table("other_runs").unusual };
const shownOf = (run) => ({ id: "", trace: runFrom(run), guesses: null, here: true });

function same(found, expected, which) {
  const rounded = JSON.parse(JSON.stringify(found), (_, value) => (typeof value === "number" ? Number(value.toFixed(6)) : value));
  assert.deepEqual(rounded, expected, which);
}

test("v(k), also beyond what was measured", () => {
  for (const { table: measured, tokens, steps } of table("verification_steps")) {
    const known = new Map(Object.entries(measured).map(([count, its]) => [Number(count), its]));
    same(verificationSteps(known, tokens), steps, JSON.stringify(measured));
  }
});

test("the figures after each round, and by position", () => {
  for (const { after, positions, ...run } of table("running")) {
    const states = running(runFrom(run)).map((state) => state.after);
    same(states.map(({ emitted, accepted, drafted, speedup }) => [emitted, accepted, drafted, speedup]), after, run.case);
    for (const { positions: last } of states.slice(-1)) same(last, positions, run.case);
  }
});

test("the interval of a run's speedup, and the word for it", () => {
  const { student_t: quantiles, runs, words } = table("intervals");
  for (const [freedom, t] of quantiles) same(studentT(freedom), t);
  for (const { speedup, interval, trusted, ...run } of runs) same(timedOf(runFrom(run)), { speedup, interval, trusted }, run.case);
  for (const [speedup, interval, word] of words) assert.equal(judged(speedup, interval), word);
});

test("the costs of a run", () => {
  for (const { costs, ...run } of table("costs")) {
    const found = costsOf(runFrom(run));
    same(found && [found.step, found.draft, Object.fromEntries(found.check), found.overhead], costs, run.case);
  }
});

test("the sentence of the result, and its reason", () => {
  for (const { says, reason, speedup, interval, trusted, where, ...run } of table("results").runs) {
    const { same: _, ...found } = resultOf(sentOf(shownOf(run), MADE, null));
    same(found, { says, reason, speedup, interval, trusted, where }, run.case);
  }
  const recorded = resultOf(sentOf({ ...shownOf(table("results").runs[0]), here: false }, MADE, null)).reason;
  assert.match(recorded, /One run, recorded on a machine;/);
});

test("a machine in a sentence is short", () => {
  for (const [machine, said] of table("machines")) assert.equal(machineInWords(machine), said);
});

test("whether both decoders wrote the same text", () => {
  for (const { output, alone, temperature, says } of table("results").texts) {
    const { settings, ...made } = traceOf([]);
    const trace = { ...made, settings: { ...settings, temperature }, output: { ...made.output, token_ids: output }, autoregressive: alone && { seconds_per_token: [], token_ids: alone } };
    const said = comparedInWords(trace);
    assert.ok(alone ? said.toLowerCase().includes(says) : !said, said);
  }
});

test("parts of a character are shown as that character", () => {
  const { spelled: cut, merged: joined, runs } = table("readable");
  for (const [texts, shown] of cut) assert.deepEqual(spelled(texts), shown);
  for (const [texts, pieces] of joined) assert.deepEqual(merged(texts), pieces);
  for (const { rounds, shown, prompt = ["Once"], alternatives: [texts, after] = [[], []], draft_tokens: [own, spelt] = [[], []], case: which } of runs) {
    const candidates = texts.map((text, i) => [50 + i, text, 0.5, 0.5]);
    const made = rounds.map(([guesses, written, kind, text]) => {
      const round = roundFrom(guesses, kind);
      const drafted = round.drafted.map((token, i) => ({ ...token, text: written[i], candidates }));
      return { ...round, drafted, emitted: { ...round.emitted, text, residual_top: candidates }, draft_tokens: own };
    });
    const read = readable({ ...traceOf(made), prompt: { text: "", token_ids: [], tokens: prompt } }).rounds;
    assert.deepEqual(read.map(({ drafted, emitted }) => [...drafted.map(({ text }) => text), emitted.text]), shown, which);
    const said = (found) => found.map((each) => each[1]);
    for (const found of texts.length ? [read[0].drafted[1].candidates, read[0].emitted.residual_top] : []) assert.deepEqual(said(found), after, which);
    assert.deepEqual(read[0].draft_tokens, spelt, which);
  }
});

test("the run at other draft lengths", () => {
  for (const { output, guesses = null, proposals = null, max_new_tokens: most, ended, rounds, case: which } of table("replay")) {
    const made = traceOf([], { output: { token_ids: [], text: "", stopped_by: ended ? "eos" : "length" } });
    made.settings.max_new_tokens = most;
    const found = everyLength(made, guessesOf(output, guesses, proposals));
    for (const [length, expected] of Object.entries(rounds)) {
      const listed = found.get(Number(length))?.map(({ guesses: ids, accepted, rejected, added }) => [ids, "a".repeat(accepted) + "r".repeat(rejected) + "d".repeat(ids.length - accepted - rejected), added]);
      assert.deepEqual(listed, expected, `${which}, draft length ${length}`);
    }
  }
});

test("the rows of a tree", () => {
  const { most_rows: most, trees } = table("tree_rows");
  assert.equal(MOST_ROWS, most);
  for (const { guesses, own, rows } of trees) assert.deepEqual(treeRows(roundFrom(guesses, own)), rows, guesses);
});

test("no cell of a CSV file is a formula", () => {
  for (const [text, cell] of table("csv_cells")) assert.equal(csvOf([[text]]), `${cell}\r\n`);
  assert.equal(csvOf([["a,b", 'say "a"', -1, 0.123456, null]]), '"a,b","say ""a""",-1,0.1235,\r\n');
});

test("a row of the list of what was tried", () => {
  const { columns, rows, first_words: beginnings } = table("tried");
  assert.deepEqual(COLUMNS, columns);
  for (const { number, here, row, ...run } of rows) same(cellsOf({ number, shown: { trace: runFrom(run), here } }), row, run.case);
  for (const [text, characters, shown] of beginnings) assert.equal(firstWords(text, characters), shown);
});

test("what a run is called, and what is different about another one", () => {
  const { drafts, names } = table("other_runs");
  for (const [draft, name, said] of drafts) assert.equal(draftName(runFrom({ rounds: [], draft, name })), said);
  for (const { case: which, run, before: earlier, names: both, differs } of names) {
    const [own, other] = [run, earlier].map((each) => sentOf(shownOf({ rounds: [["a", "bonus"]], ...each }), MADE, null).run.named);
    const expected = both.map((name, i) => [name, differs[i]].filter(Boolean).join(", "));
    assert.deepEqual([nameOf(own, other), nameOf(other, own)], expected, which);
  }
});

test("the times of a run at other draft lengths, and what others are compared with", () => {
  const rounded = (value, digits) => value && Number(value.toFixed(digits));
  for (const { case: which, guesses, at_lengths: expected, before, ...run } of table("other_runs").times) {
    const shown = shownOf(run);
    const own = { ...shown, guesses: guesses && guessesOf(shown.trace.output.token_ids, guesses) };
    const { run: sent, before: then } = sentOf(own, MADE, own);
    same(sent.times, expected, which);
    const { lengths, acceptance, speedup, per_call, trusted } = then;
    const digits = lengths.map(([share, gain]) => [rounded(share, 4), rounded(gain, 2)]);
    const each = [acceptance, speedup].map((values) => values.map((value) => rounded(value, 4)));
    same({ lengths: digits, acceptance: each[0], speedup: each[1], per_call, trusted, draft_length: then.named.draft_length }, before, which);
  }
});
