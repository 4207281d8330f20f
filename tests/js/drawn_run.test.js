// From a trace to what the stage draws: what is computed once, and what a replay knows. rendered.js has the figures.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawnRun } from "../../assets/browser/trace/drawn_run.js";
import { everyLength } from "../../assets/browser/trace/replay.js";
import { drafted, emitted, guessesOf, roundOf, sentRun, traceOf } from "./made_rounds.js";

const stage = (run, more = {}) => ({ running: false, run, ...more });

test("the same run is computed once, unless something else is asked of it", () => {
  const run = sentRun(traceOf([roundOf("ardd"), roundOf("aaaa", "bonus")]));
  const first = drawnRun(stage(run, { playhead: 1 }));
  const again = drawnRun(stage(run, { playhead: 2 }));
  assert.deepEqual([again.rounds === first.rounds, again.playhead], [true, 2]);
  assert.notEqual(drawnRun(stage(run, { running: true })).replay, first.replay);
  assert.equal(drawnRun(stage(run)).replay.why_not, first.replay.why_not);
});

test("a round whose last character the next one completes is another round, so that the strip draws it again", () => {
  const [begun, ends] = [["⟨C3⟩", 1], ["⟨B6⟩", 2]].map(([text, id]) => ({ ...roundOf("", "bonus"), emitted: emitted("bonus", id, text) }));
  const [before, after] = [[begun], [begun, ends]].map((rounds) => drawnRun(stage(sentRun(traceOf(rounds)), { running: true })).rounds[0]);
  assert.deepEqual([before, after].map(({ chips }) => chips[0].text), ["⟨C3⟩", "ö(1/2)"]);
  assert.notEqual(after, before);
});

const made = (ids, statuses, own) => {
  const kind = statuses.includes("r") ? "correction" : "bonus";
  return { ...roundOf("", kind), drafted: ids.map((id, i) => drafted(id, statuses[i], ` ${id}`)), emitted: emitted(kind, own) };
};

test("what the run drafted after a wrong guess, or after the end of the text, is known wherever a round begins", () => {
  const settings = { ...traceOf([]).settings, max_new_tokens: 6 };
  const once = traceOf([made([1, 2, 9, 70], "aard", 3), made([4, 5], "aa", 6)], { settings });
  const lengths = everyLength(once, guessesOf([1, 2, 3, 4, 5, 6], [1, 2, 9, 4, 5, 6]));
  assert.deepEqual([lengths.get(5)[0].guesses, lengths.get(1)[1].guesses], [[1, 2, 9, 70, null], [9]]);
  const ended = traceOf([{ ...made([1, 2, 7, 8], "aadd", 0), emitted: emitted("none") }], { output: { token_ids: [], text: "", stopped_by: "eos" } });
  const [last] = everyLength(ended, guessesOf([1, 2], [1, 2])).get(5);
  assert.deepEqual([last.guesses, last.accepted, last.added], [[1, 2, 7, 8, null], 2, "none"]);
});
