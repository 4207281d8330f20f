// From a trace to what the stage draws: chips, figures, times, other draft lengths.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chipsOf } from "../../assets/browser/trace/chips.js";
import { drawnRun } from "../../assets/browser/trace/drawn_run.js";
import { everyLength, replayOf } from "../../assets/browser/trace/replay.js";
import { running } from "../../assets/browser/trace/running.js";
import { drafted, emitted, guessesOf, roundOf, sentRun, traceOf } from "./made_rounds.js";

/** @import { Autoregressive, ReplayTimes, Round, SentRun, SentStage, Trace } from "../../assets/browser/dist/payloads.js" */

const STATE = { running: false, longest_draft: 16 };
/** @type {(run: SentRun, more?: object) => SentStage} */
const stage = (run, more = {}) => /** @type {SentStage} */ (/** @type {unknown} */ ({ ...STATE, run, ...more }));
/** @type {(steps: number, seconds?: number) => Autoregressive} */
const alone = (steps, seconds = 2) => ({ seconds_per_token: Array(steps).fill(seconds), token_ids: [] });

// 2, 5 and 1 tokens in 5.5 seconds each; the target alone takes 2 seconds for one
const ROUNDS = [roundOf("ardd"), roundOf("aaaa", "bonus"), roundOf("", "bonus")];

test("what is judged is counted over the positions", () => {
  const [first, second] = running(traceOf(ROUNDS)).map(({ after }) => [after.judged, after.acceptance, after.judgement]);
  assert.deepEqual([first, second], [[2, 0.25, 0.5], [6, 5 / 8, 5 / 6]]);
  const { acceptance, judgement } = running(traceOf([roundOf("", "bonus")]))[0].after;
  assert.deepEqual([acceptance, judgement], [null, null]);
});

test("times are milliseconds from the start, and the target alone has written what fits before them", () => {
  const [first, second] = running(traceOf(ROUNDS, { autoregressive: alone(8) }));
  assert.deepEqual([first.ms, first.alone], [[0, 1000, 5000, 5500], [0, 2, 2]]);
  assert.deepEqual([second.ms, second.alone], [[5500, 6500, 10500, 11000], [3, 5, 5]]);
  const untimed = traceOf([{ ...ROUNDS[0], draft_seconds: null }], { autoregressive: alone(2) });
  assert.deepEqual([running(untimed)[0].ms, running(untimed)[0].after.speedup], [[0, 0, 0, 0], null]);
  assert.equal(drawnRun(stage(sentRun(untimed))).timed, false);
});

test("the target alone has written no more than it has, also while the run goes on", () => {
  /** @type {Trace["output"]} */
  const unfinished = { token_ids: [], text: "", stopped_by: null };
  const going = running(traceOf(ROUNDS, { autoregressive: alone(6), output: unfinished }));
  assert.equal(Math.max(...going.flatMap((state) => state.alone ?? [])), 6);
  const short = running(traceOf(ROUNDS, { autoregressive: alone(6) }));
  assert.equal(short[2].alone?.[2], 6);
  const more = (/** @type {Trace} */ trace) => drawnRun(stage(sentRun(trace), { running: true })).more;
  assert.deepEqual([more(traceOf(ROUNDS, { output: unfinished })), more(traceOf(ROUNDS))], [true, false]);
});

test("a judged token keeps both models' first choices, and itself", () => {
  /** @type {Round["drafted"][0]["candidates"]} */
  const candidates = [[1, "a", 0.5, 0.1], [2, "b", 0.3, 0.2], [3, "c", 0.1, 0.6], [4, "d", 0.05, 0.05], [9, "own", 0.01, 0.02]];
  const token = { ...drafted(9, "r", "own"), target_prob: 0.01, draft_prob: 0.02, accept_prob: 0.5, u: 0.9, candidates };
  const round = { ...roundOf("", "correction"), drafted: [token, { ...token, ...drafted(4, "d"), draft_prob: 0.3 }] };
  const [judged, discarded, own] = chipsOf(round);
  assert.deepEqual(judged, { text: "own", status: "rejected", p: 0.01, q: 0.02, accept_prob: 0.5, u: 0.9, candidates: [["a", 0.5, 0.1, false], ["c", 0.1, 0.6, false], ["own", 0.01, 0.02, true]] });
  assert.deepEqual(discarded, { text: "t4", status: "discarded", q: 0.3 }, "never judged: what the target thought is not shown");
  assert.deepEqual([own.status, own.text], ["correction", "x"]);
  const unreported = { ...roundOf("", "bonus"), drafted: [{ ...drafted(0, "a"), text: null }] };
  assert.deepEqual(chipsOf(unreported).map(({ text, status }) => [text, status]), [["⟨?⟩", "accepted"], ["x", "bonus"]]);
  assert.deepEqual(chipsOf(roundOf("", "bonus"))[0].status, "own");
});

test("a long prompt is shown from its end", () => {
  const trace = traceOf([], { prompt: { text: "", token_ids: [], tokens: [...Array(68).fill("a"), "⟨C3⟩", "⟨B6⟩"] } });
  assert.deepEqual(drawnRun(stage(sentRun(trace, { hidden: 5 }))).prompt, { hidden: 15, tokens: [...Array(58).fill("a"), "ö"] });
});

test("a draft that is not drawn is a point mass, and a block is a rule of its own above temperature 0", () => {
  const how = (/** @type {Partial<Trace["settings"]>} */ settings) => drawnRun(stage(sentRun(traceOf([], { settings: { ...traceOf([]).settings, ...settings } }))));
  assert.deepEqual([how({ temperature: 1 }).point_mass, how({ temperature: 1, draft_sampling: "argmax" }).point_mass], [false, true]);
  assert.deepEqual([how({ draft_sampling: "argmax" }).point_mass, how({ tree: "dynamic:8" }).point_mass], [false, false], "the recorded q is then the plain softmax");
  assert.deepEqual([how({ temperature: 1, tree: "dynamic:8" }).point_mass, how({ temperature: 1, tree: "2,2" }).point_mass], [true, false]);
  assert.deepEqual([how({ temperature: 1, verification: "block" }).rule, how({ verification: "block" }).rule, how({ tree: "2,2" }).rule], ["block", "token", "tree"]);
});

test("the same run is computed once, unless something else is asked of it", () => {
  const run = sentRun(traceOf(ROUNDS));
  const first = drawnRun(stage(run, { playhead: 1 }));
  const again = drawnRun(stage(run, { playhead: 2 }));
  assert.deepEqual([again.rounds === first.rounds, again.playhead], [true, 2]);
  assert.notEqual(drawnRun(stage(run, { running: true })).replay, first.replay);
  assert.equal(drawnRun(stage(run)).replay.why_not, first.replay.why_not);
});

test("a round whose last character the next one completes is another round, so that the strip draws it again", () => {
  const begun = { ...roundOf("", "bonus"), emitted: emitted("bonus", 1, "⟨C3⟩") };
  const ends = { ...roundOf("", "bonus"), emitted: emitted("bonus", 2, "⟨B6⟩") };
  const [before] = drawnRun(stage(sentRun(traceOf([begun])), { running: true })).rounds;
  const [after] = drawnRun(stage(sentRun(traceOf([begun, ends])), { running: true })).rounds;
  assert.deepEqual([before, after].map(({ chips }) => chips[0].text), ["⟨C3⟩", "ö(1/2)"]);
  assert.notEqual(after, before);
});

test("the lessons have words of their own", () => {
  const sentence = (/** @type {object} */ diagram) => drawnRun(stage(sentRun(traceOf(ROUNDS)), { diagram })).rounds[0].sentences[0];
  assert.equal(sentence({ words: "technical", picture: "way" }), "The draft guesses 4 tokens.");
  assert.equal(sentence({ words: "plain", picture: "way" }), "The intern suggests 4 words.");
  assert.match(sentence({ words: "plain", picture: "alone" }), /^Word 1 of 3/);
});

// the draft is wrong at the third and the sixth place
const OUTPUT = [1, 2, 3, 4, 5, 6, 7, 8];
const GUESSES = guessesOf(OUTPUT, [1, 2, 33, 4, 5, 66, 7, 8]);
const FREE = { steps: Array(17).fill(1), between: null, said: "estimated" };

/** @type {(ids: number[], statuses: string, own: number) => Round} */
const made = (ids, statuses, own) => ({ ...roundOf("", statuses.includes("r") ? "correction" : "bonus"), drafted: ids.map((id, i) => drafted(id, statuses[i], ` ${id}`)), emitted: emitted(statuses.includes("r") ? "correction" : "bonus", own) });
// of draft length 4, with what the draft wrote after its wrong guesses
const RUN = traceOf([made([1, 2, 33, 44], "aard", 3), made([4, 5, 66, 77], "aard", 6), made([7], "a", 8)], { settings: { ...traceOf([]).settings, max_new_tokens: 8 } });

test("at its own draft length the run is replayed round for round", () => {
  const replay = replayOf(sentRun(RUN, { guesses: GUESSES, times: FREE }), STATE);
  assert.ok(replay.why_not === null);
  assert.deepEqual(replay.lengths[4], {
    rounds: [[2, 1, "correction", [" 33", " 44"], 0], [2, 1, "correction", [" 66", " 77"], 0], [1, 0, "bonus", [], 0]],
    accepted: 5,
    rejected: 2,
    discarded: 2,
    per_call: 8 / 3,
    speedup: 8 / 3,
    interval: null,
  });
  assert.deepEqual([replay.tokens[0], replay.times, replay.exact], [" 1", "estimated", true]);
  assert.deepEqual(Object.keys(replay.lengths).map(Number), Array.from({ length: 16 }, (_, i) => i + 1));
});

test("every length writes the same output, and only what no run has drafted is unknown", () => {
  for (const [length, rounds] of everyLength(RUN, GUESSES, 16)) {
    const written = rounds.reduce((sum, { accepted, added }) => sum + accepted + Number(added !== "none"), 0);
    assert.equal(written, OUTPUT.length, `draft length ${length}`);
    for (const { guesses, accepted, rejected } of rounds) assert.ok(guesses.slice(0, accepted + rejected).every((id) => id !== null));
  }
  const six = everyLength(RUN, GUESSES, 16).get(6)?.[0];
  assert.deepEqual(six?.guesses, [1, 2, 33, 44, null, null], "the run has drafted one token after its wrong guess");
});

test("what the run drafted after a wrong guess, or after the end of the text, is known wherever a round begins", () => {
  const settings = { ...RUN.settings, max_new_tokens: 6 };
  const once = traceOf([made([1, 2, 9, 70], "aard", 3), made([4, 5], "aa", 6)], { settings });
  const guesses = guessesOf([1, 2, 3, 4, 5, 6], [1, 2, 9, 4, 5, 6]);
  const at = (/** @type {number} */ length, /** @type {number} */ round) => everyLength(once, guesses, 16).get(length)?.[round].guesses;
  assert.deepEqual([at(5, 0), at(1, 1)], [[1, 2, 9, 70, null], [9]]);
  const ended = traceOf([{ ...made([1, 2, 7, 8], "aadd", 0), emitted: emitted("none") }], { output: { token_ids: [], text: "", stopped_by: "eos" } });
  const [last] = everyLength(ended, guessesOf([1, 2], [1, 2]), 8).get(5) ?? [];
  assert.deepEqual([last.guesses, last.accepted, last.added], [[1, 2, 7, 8, null], 2, "none"]);
});

test("speedups are the tokens over what the rounds take; without steps they are not known", () => {
  const steps = Array.from({ length: 17 }, (_, guesses) => 1 + guesses);
  const at4 = (/** @type {Omit<ReplayTimes, "said">} */ times) => {
    const replay = replayOf(sentRun(RUN, { guesses: GUESSES, times: { ...times, said: "" } }), STATE);
    assert.ok(replay.why_not === null);
    return [replay.lengths[4].speedup, replay.lengths[4].interval];
  };
  assert.deepEqual(at4({ steps, between: null }), [8 / 12, null]);
  assert.deepEqual(at4({ steps: null, between: null }), [null, null]);
  const twice = steps.map((each) => 2 * each);
  assert.deepEqual(at4({ steps, between: [steps, twice] }), [8 / 12, [8 / 24, 8 / 12]], "the longest rounds give the lowest speedup");
});

test("where a replay is impossible one line says why", () => {
  const why = (/** @type {Partial<Trace["settings"]>} */ settings, state = STATE, rounds = ROUNDS) =>
    replayOf(sentRun(traceOf(rounds, { settings: { ...traceOf([]).settings, ...settings } })), state).why_not;
  assert.match(String(why({ temperature: 1 })), /^Above temperature 0/);
  assert.match(String(why({ draft_schedule: "heuristic" })), /schedule is heuristic/);
  assert.equal(why({ tree: "4,2,1" }), "The tree 4,2,1 has a depth of 3, and what another tree would draft is not known from this run.");
  assert.match(String(why({ tree: "dynamic:20" })), /^What a tree would draft at another depth/);
  assert.match(String(why({}, STATE, [{ ...ROUNDS[0], draft_tokens: ["a"] }])), /another tokenizer/);
  assert.equal(why({}), "Other draft lengths are shown after a live run.");
  assert.equal(why({}, { ...STATE, running: true }), "Other draft lengths are shown once this run is over.");
  assert.equal(replayOf(sentRun(traceOf([])), { ...STATE, why_not: "You set it." }).why_not, "You set it.");
});
