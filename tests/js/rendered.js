// Texts, figures and places that the browser computes, of inputs that differ in all that matters, as JSON on stdout:
// {what: {case: what comes of it}}. test_rendered.py compares it with its snapshot, in which every figure and word is read.

import { layoutOf, merged, themed } from "../../assets/browser/chart/chart.js";
import { inMs, filled, outcomeOf as loadOutcome, valueOf, wordOf } from "../../assets/browser/roofline/model.js";
import { fileName, luminance } from "../../assets/browser/shared/dom.js";
import { milliseconds, percent, prob, seconds, times } from "../../assets/browser/shared/numbers.js";
import { partOfCharacter, quoted, shorten, visible } from "../../assets/browser/shared/chips.js";
import { accountOf, asText } from "../../assets/browser/stage/account.js";
import { runFilm, runSlide } from "../../assets/browser/stage/slide.js";
import { placesOf, rolled, sharesOf, guessesOf as stopsOf, writtenAt } from "../../assets/browser/stage/diagram.js";
import { noteOn, reachOf, speedupTicks, valuesOf } from "../../assets/browser/stage/figures.js";
import { blockToken, whyNotTaken } from "../../assets/browser/stage/inspector.js";
import { Plane, roundNumbers } from "../../assets/browser/stage/plane.js";
import { unfold } from "../../assets/browser/stage/replay.js";
import { certainty, explained, lastOf, markOf, outcomeOf } from "../../assets/browser/stage/result.js";
import { plainStep } from "../../assets/browser/stage/timeline.js";
import { queryOf } from "../../assets/browser/stage/transport.js";
import { depthsOf, foldedHeight, hiddenGuesses, rowsOf, siblingsOf, stepFrom } from "../../assets/browser/stage/tree.js";
import { whatWasDone } from "../../assets/browser/stage/tour.js";
import { chipsOf, drawnRun } from "../../assets/browser/trace/drawn_run.js";
import { aloneSentences, plainSentences, narrate } from "../../assets/browser/trace/narration.js";
import { replayOf } from "../../assets/browser/trace/replay.js";
import { running } from "../../assets/browser/trace/rounds.js";
import { treeOf } from "../../assets/browser/trace/tree_rows.js";
import { DRAFT, HOSTILE, LOAD, MODEL, alone, drafted, emitted, guessesOf, loadOf, roundOf, sentRun, shownRun, traceOf, treeRound } from "./made_rounds.js";
import { KEY, looksOf, textsOf } from "./slides.js";

const MADE = {};
/** What comes of each case: a row is its name, and what `make` is given. */
const of = (what, cases, make) => {
  MADE[what] = Object.fromEntries(cases.map(([name, ...given]) => [name, make(...given)]));
};
/** The same of cases that are their own names. */
const each = (what, cases, make) => of(what, cases.map((one) => [JSON.stringify(one), one]), make);
const sevenDigits = (_, value) => (typeof value === "number" ? Number(value.toPrecision(7)) : value === undefined ? null : value);

// ---- rounds in words

const LOOKUP = { proposes: "A match in the text so far gives {tokens}.", nothing: "No match in the text so far: nothing is drafted." };
const CHAINS = ["aard", "arddd", "aaar", "rddd", "rd", "r"].map((guesses) => [guesses, "correction"])
  .concat(["aaaa", "aa", "a", ""].map((guesses) => [guesses, "bonus"]), ["aadd", "aad", "aaa", "a"].map((guesses) => [guesses, "none"]));
const TREES = [["r-1 a-1 n0 n0 r1 r1", "correction"], ["a-1 n-1 r0 a0 n1 n1", "bonus"], ["r-1 r-1 n0 n0 n1 n1", "correction"], ["a-1 n-1", "bonus"],
  ["r-1 a-1 n0 a1", "none"], ["r-1 a-1 n0", "none"], ["a-1 a0", "bonus"], ["r-1 a-1 n0 r1", "correction"]];
const told = (round, { remaining = 40, ends = false } = {}, method = {}) => narrate(round, { ...MODEL, ...method }, remaining, ends);

of("a round in both voices", [...CHAINS, ...TREES].map(([guesses, own]) => [`${guesses} ${own}`, guesses, own]), (guesses, own) => {
  const round = guesses.includes(" ") || guesses.includes("-") ? treeRound(guesses, own) : roundOf(guesses, own);
  const ends = own === "none";
  return [...told(round, { ends }), ...plainSentences(round, ends)];
});
of("a round of another drafter", [
  ["three are left to write", "ar", { remaining: 3 }],
  ["one is left", "", { remaining: 1 }],
  ["two are left", "", { remaining: 2 }],
  ["lookup without a match", "", { remaining: 9 }, LOOKUP],
  ["lookup with one", "r", { remaining: 9 }, LOOKUP],
  ["heads", "aard", {}, { subject: "the heads on the target", several: true, at_once: true }],
  ["heads, two guesses", "ar", {}, { subject: "the heads on the target", several: true, at_once: true }],
  ["heads, one guess", "r", {}, { subject: "the heads on the target", several: true, at_once: true }],
  ["a head", "ar", {}, { subject: "the head" }],
  ["a person skips", "", { remaining: 1 }, { by_hand: true, nothing: "You skip: nothing is drafted." }],
  ["the text ends", "ar", { ends: true }],
  ["another tokenizer", { ...roundOf("", "bonus"), draft_tokens: ["␣wa"] }],
  ["not all are reported", { ...roundOf("ar"), drafted: [drafted(0, "a"), { ...drafted(1, "r"), text: null }] }],
  ["a person's tree", treeRound("r-1 a-1", "bonus"), {}, { subject: "you", several: true }],
], (round, ...how) => told(typeof round === "string" ? roundOf(round, round ? "correction" : "bonus") : round, ...how));
of("a plain round that ends the text", [["nothing drafted", roundOf("", "bonus")]], (round) => plainSentences(round, true));
of("a pass of the target alone", [["technical", 0, 40, "technical"], ["plain", 3, 40, "plain"]], (...pass) => [...new Set(aloneSentences(...pass))]);

// ---- a run as text and as slides

const RESULT = { says: "1.5 times as fast: 7 tokens", same: "Identical.", reason: "The draft is cheap.", trusted: true, speedup: 1.5, interval: null, where: "" };
const CUT = { ...roundOf("", "bonus"), drafted: [drafted(1, "a", "⟨C3⟩"), drafted(2, "a", "⟨B6⟩"), drafted(3, "a", "\n\u202e")], emitted: emitted("bonus", 9, "<|end|>") };
const STRANGE = { prompt: { text: "", token_ids: [], tokens: ["<s>", "مرحبا", " 👩‍👩‍👧", HOSTILE] } };
const BIG = ["a-1", "a0", ...Array(12).fill("n-1")].join(" ");
const RUNS = [
  ["two rounds", [roundOf("ardd"), roundOf("aaaa", "bonus")], { result: RESULT }],
  ["no round", []],
  ["it goes on", [roundOf("a", "bonus")], { running: true, result: RESULT }, { output: { token_ids: [], text: "", stopped_by: null } }],
  ["a tree", [treeRound("r-1 a-1 n0 a1", "bonus")], {}, { settings: { ...traceOf([]).settings, tree: "2,1" } }],
  ["more guesses than a sentence names", [treeRound(BIG, "bonus")], {}, { settings: { ...traceOf([]).settings, tree: "14" } }],
  ["cut characters, other scripts, markup", [CUT], {}, STRANGE],
];
of("a run as text", RUNS, (...run) => {
  const { data, run: sent } = shownRun(...run);
  return asText(accountOf(data, sent)).split("\n");
});
of("a run's slides", RUNS, (...run) => {
  const made = { ...shownRun(...run), ...KEY };
  return runFilm(made, 1).frames.map(({ ms, draw }) => [ms, looksOf(draw()).join(" "), ...textsOf(draw())]);
});
of("who drafts, on a slide", [["a person", [roundOf("a", "bonus")]]], (rounds) => {
  const made = { ...shownRun(rounds), ...KEY };
  made.run.method = { ...made.run.method, by_hand: true };
  return textsOf(runSlide(made, 2))[0];
});

// ---- tokens in words

const judged = (text, status, chance, u, more) => ({ text, status, p: 0.2, q: 0.4, accept_prob: chance, u, candidates: [], ...more });
const OWN = { text: "own", status: "correction", p: 0.5, candidates: [], residual: [] };
const BLOCK = [judged("a", "accepted", 0.3, 0.9), judged("b", "accepted", 0.6, 0.2), judged("c", "accepted", 0.5, 0.1), judged("d", "rejected", 0.4, 0.8)];
each("why a token of a block is there", [0, 1, 2, 3], (at) => blockToken({ chips: [...BLOCK, OWN] }, BLOCK[at], at));
const X = judged("x", "rejected", 0.1, 0.9), [Y, V] = [judged("y", "accepted", 0.8, 0.1), judged("v", "accepted", 0.8, 0.1)];
const [Z, W, ZZ] = ["z", "w", "zz"].map((text) => ({ text, status: "not taken", p: 0.1, q: 0.2 }));
of("why a guess of a tree was not taken", [
  ["after a failed one", [X, Y, Z, V, W, ZZ], [-1, -1, 0, 1, 1, 2], 2],
  ["after one that was not taken", [X, Y, Z, V, W, ZZ], [-1, -1, 0, 1, 1, 2], 5],
  ["beside an accepted one", [X, Y, Z, V, W, ZZ], [-1, -1, 0, 1, 1, 2], 4],
  ["after the end of the text", [Y, Z], [-1, 0], 1],
  ["after another choice", [V, W, ZZ], [-1, -1, 1], 2],
], (chips, parents, at) => whyNotTaken({ chips, tree: { parents, rows: [], folded: [], best: null } }, at));
each("a step of the target", [[4, 8, 20, 24, 28], [], null], plainStep);
const CANDIDATES = [[1, "a", 0.5, 0.1], [2, "b", 0.3, 0.2], [3, "c", 0.1, 0.6], [4, "d", 0.05, 0.05], [9, "own", 0.01, 0.02]];
const TOKEN = { ...drafted(9, "r", "own"), target_prob: 0.01, draft_prob: 0.02, accept_prob: 0.5, u: 0.9, candidates: CANDIDATES };
of("chips", [
  ["judged, and discarded: what the target thought is not shown", { ...roundOf(""), drafted: [TOKEN, { ...TOKEN, ...drafted(4, "d"), draft_prob: 0.3 }] }],
  ["not reported", { ...roundOf("", "bonus"), drafted: [{ ...drafted(0, "a"), text: null }] }],
  ["nothing drafted", roundOf("", "bonus")],
  ["drawn, though three others were likelier", { ...roundOf(""), emitted: { ...emitted("correction", 9), residual_top: [[1, "a", 0.5], [2, "b", 0.3], [3, "c", 0.15], [9, "x", 0.05]] } }],
], chipsOf);

// ---- the equation and the result of a run

const AT_6 = { rounds: Array(3).fill([5, 0, "bonus", [], 0]), accepted: 15, rejected: 2, discarded: 3, per_call: 5, acceptance: 0.75, speedup: 1.234, interval: null };
const AT_4 = { rounds: Array(20).fill([3, 1, "correction", [], 0]), accepted: 44, rejected: 10, discarded: 26, per_call: 3.2, acceptance: 0.55, speedup: 1.4, interval: [1.37, 1.44] };
const BEFORE = { names: { before: "small, 4", run: "nano, 4" }, acceptance: [0.5, 0.86], speedup: [1, 1.56], lengths: [], named: { draft_length: 4 }, per_call: 4.25, trusted: true };
const DONE = {
  running: false, timed: true, draft_length: 4, measured: "measured on a machine",
  rounds: [
    { after: { emitted: 3, accepted: 2, drafted: 4, per_call: 3, acceptance: 0.4, speedup: 1.1 }, ms: [0, 0.5, 1.75, 2] },
    { after: { emitted: 7, accepted: 5, drafted: 8, per_call: 3.5, acceptance: 0.59, speedup: 1.54 }, ms: [2, 2.5, 3.75, 4] },
  ],
  result: { says: "1.54 times as fast", same: "Identical.", reason: "It pays", trusted: true, speedup: 1.54, interval: null, where: "measured here" },
  replay: { why_not: null, tokens: Array(16).fill("a"), lengths: { 6: AT_6 }, times: "estimated from this run’s times", exact: true },
};
const JUDGED = "It pays if more than 56 % of the judged guesses are accepted. Many judged guesses. At calibrated costs: 1.8.";
const busy = { trusted: false, speedup: null };
const at4 = (changes) => ({ replay: { ...DONE.replay, lengths: { 4: { ...AT_4, ...changes }, 6: AT_6 }, times: "estimated from quiet measurements of this pair" } });
const SHOWN = [
  ["a run", {}],
  ["an interval, on a machine", { result: { interval: [1.5, 1.7], where: "recorded on an Intel Xeon" } }],
  ["words that are explained", { result: { reason: JUDGED } }],
  ["the simple view", { view: "simple" }],
  ["not played to its end", {}, { over: false }],
  ["after another run", { before: BEFORE }],
  ["while it runs", { before: BEFORE, running: true }],
  ["the first one runs", { running: true }],
  ["before its first round", { running: true, rounds: [] }],
  ["not timed", { result: { speedup: null } }],
  ["on a busy machine", { result: busy }],
  ["busy, after another one", { before: BEFORE, result: busy }],
  ["after a busy one, while it runs", { before: { ...BEFORE, trusted: false }, running: true }],
  ["after a busy one that was chosen", { before: { ...BEFORE, trusted: false, names: { before: "small, 4, temperature 0", run: "nano, 4, temperature 1" } } }],
  ["busy, with costs of a quiet moment", { result: busy, ...at4() }],
  ["busy, with an estimate that is one number", { result: busy, ...at4({ interval: null }) }],
  ["busy, without an estimate", { result: busy, ...at4({ speedup: null, interval: null }) }],
  ["dragged", { before: BEFORE }, { replay: AT_6 }],
  ["dragged and released", {}, { replay: AT_6, released: true }],
  ["dragged, an interval", {}, { replay: { ...AT_6, interval: [1.15, 1.31] } }],
  ["dragged, an interval of one number", {}, { replay: { ...AT_6, interval: [1.231, 1.234] } }],
  ["dragged, times not known", { replay: { ...DONE.replay, times: "not known: this machine was busy" } }, { replay: { ...AT_6, speedup: null } }],
  ["dragged, busy", { result: busy }, { replay: AT_6 }],
  ["dragged before its end", {}, { replay: AT_6, over: false }],
  ["dragged during the tour", { tour: { started: 1, at: 5 } }, { replay: AT_6 }],
  ["no replay", { replay: { why_not: "sampled" } }],
  ["hidden by a link", { result: undefined }],
];
const shownOf = (changes) => ({ ...DONE, ...changes, result: "result" in changes ? changes.result && { ...DONE.result, ...changes.result } : DONE.result });
const words = (node) => (Array.isArray(node) ? node.map(words).join("") : typeof node === "object" && node ? words(node.props.children) : (node ?? ""));
/** Of the cases after the first one, only what is not the same as there. */
const unlikeTheFirst = (made) => {
  const [first, ...others] = Object.entries(made);
  const unlike = (one) => one && Object.fromEntries(Object.entries(one).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(first[1][name])));
  return Object.fromEntries([first, ...others.map(([name, one]) => [name, unlike(one)])]);
};
const figuresIn = (found) => found && Object.fromEntries(["acceptance", "speedup", "interval", "length", "kind"].flatMap((name) => (name in found ? [[name, found[name]]] : [])));
of("the result of a run", SHOWN, (changes, { replay = null, released = false, over = true } = {}) => {
  const [data, asked] = [shownOf(changes), { length: replay ? 6 : 4, run: replay, released }];
  const outcome = outcomeOf(data, asked, over);
  if (!outcome) return null;
  const { equation, reason, ...said } = outcome;
  const last = data.rounds.at(-1)?.after;
  const { speedup, lengths } = valuesOf(data, last, asked);
  return {
    ...said,
    reason: explained(reason).map((part) => (part.tip ? `[${part.words}: ${part.tip}]` : part.words)).join(""),
    equation: equation?.pieces.map((piece) => piece.words).join("") ?? null,
    tips: equation && Object.values(equation.tips),
    certainty: certainty(data),
    values: [speedup, lengths, words(noteOn(data))],
    mark: figuresIn(markOf(data, asked)),
    last: figuresIn(lastOf(data)),
  };
});
MADE["the result of a run"] = unlikeTheFirst(MADE["the result of a run"]);
const sampled = { replay: { why_not: "sampled" } };
const sped = (...speedups) => ({ ...sampled, rounds: speedups.map((speedup) => ({ after: { speedup } })) });
of("how far the axes go", [
  ["a run", sampled],
  ["a faster replay", { replay: { ...DONE.replay, lengths: { 6: { ...AT_6, speedup: 1.8 } } } }],
  ["a faster run before", { before: { ...BEFORE, speedup: [1, null, 1, 1, 2.1], lengths: [[0.5, 2.4], [0.4, null]] } }],
  ["a longer run before", { ...sped(...Array(39).fill(1.2)), before: { ...BEFORE, speedup: Array(58).fill(1.1) } }],
  ["its first rounds too", sped(3.3, 2, 1.7, 1.6, 1.5)],
  ["a busy one before", { ...sampled, before: { ...BEFORE, trusted: false, speedup: [2.6] } }],
  ["no more than 4 guesses and a token", sped(400, 1.5)],
  ["no more than a guess and a token", { ...sampled, before: { ...BEFORE, named: { draft_length: 1 }, speedup: [9] } }],
], (changes) => [reachOf(shownOf(changes)), speedupTicks(reachOf(shownOf(changes)).speedup).map(([, said]) => said)]);

// ---- what a trace becomes

const ROUNDS = [roundOf("ardd"), roundOf("aaaa", "bonus"), roundOf("", "bonus")]; // 5.5 s each
const STATE = { running: false };
const drawn = (run, more = {}) => drawnRun({ ...STATE, run, ...more });
const set = (settings) => traceOf(ROUNDS, { settings: { ...traceOf([]).settings, ...settings } });
of("the figures after each round", [
  ["beside the target alone", traceOf(ROUNDS, { autoregressive: alone(8) })],
  ["the target wrote less", traceOf(ROUNDS, { autoregressive: alone(6) })],
  ["it goes on", traceOf(ROUNDS, { autoregressive: alone(6), output: { token_ids: [], text: "", stopped_by: null } })],
  ["not timed", traceOf([{ ...ROUNDS[0], draft_seconds: null }], { autoregressive: alone(2) })],
], (trace) => [drawn(sentRun(trace)).timed, drawn(sentRun(trace), { running: true }).more, ...running(trace).map(({ after, ms, alone: steps }) => ({ ms, steps, ...after }))]);
each("the rule and whether q is a point mass", [
  {}, { temperature: 1 }, { temperature: 1, draft_sampling: "argmax" }, { draft_sampling: "argmax" }, { tree: "dynamic:8" }, { temperature: 1, tree: "dynamic:8" },
  { temperature: 1, tree: "2,2" }, { temperature: 1, verification: "block" }, { verification: "block" },
], (settings) => { const { rule, point_mass: certain } = drawn(sentRun(set(settings))); return [rule, certain]; });
of("why there is no replay", [
  ["sampled", set({ temperature: 1 })],
  ["a schedule", set({ draft_schedule: "heuristic" })],
  ["a tree", set({ tree: "4,2,1" })],
  ["a grown tree", set({ tree: "dynamic:20" })],
  ["another tokenizer", traceOf([{ ...ROUNDS[0], draft_tokens: ["a"] }])],
  ["no guesses", set({})],
  ["it goes on", set({}), { running: true }],
  ["the page says", set({}), { why_not: "You set it." }],
], (trace, more) => replayOf(sentRun(trace), { ...STATE, ...more }).why_not);
const LONG = { prompt: { text: "", token_ids: [], tokens: [...Array(68).fill("a"), "⟨C3⟩", "⟨B6⟩"] } };
of("the end of a long prompt", [["70 tokens, 5 left out", LONG]], (more) => { const { hidden, tokens } = drawn(sentRun(traceOf([], more), { hidden: 5 })).prompt; return [hidden, tokens.length, tokens.at(-1)]; });
each("the words of a lesson", [{ words: "technical", picture: "way" }, { words: "plain", picture: "way" }, { words: "plain", picture: "alone" }],
  (diagram) => drawn(sentRun(traceOf(ROUNDS)), { diagram }).rounds[0].sentences[0]);
const made = (ids, statuses, own) => ({ ...roundOf("", statuses.includes("r") ? "correction" : "bonus"), drafted: ids.map((id, i) => drafted(id, statuses[i], ` ${id}`)), emitted: emitted(statuses.includes("r") ? "correction" : "bonus", own) });
const REPLAYED = traceOf([made([1, 2, 33, 44], "aard", 3), made([4, 5, 66, 77], "aard", 6), made([7], "a", 8)], { settings: { ...traceOf([]).settings, max_new_tokens: 8 } });
const STEPS = Array.from({ length: 17 }, (_, guesses) => 1 + guesses);
of("a run at lengths 2, 4 and 6", [
  ["steps", { steps: STEPS, between: null, said: "of_run" }],
  ["between", { steps: STEPS, between: [STEPS, STEPS.map((step) => 2 * step)], said: "of_run" }],
  ["unknown", { steps: null, between: null, said: "unknown_times" }],
], (took) => { const { lengths, ...more } = replayOf(sentRun(REPLAYED, { guesses: guessesOf([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 33, 4, 5, 66, 7, 8]), times: took }), STATE); return { ...more, lengths: [2, 4, 6].map((at) => lengths[at]), all: Object.keys(lengths).length }; });
of("a replay that finds no guess", [["at 4", guessesOf([1, 2], null, [[], []])]], (guesses) => {
  const { acceptance, per_call: tokens, speedup } = replayOf(sentRun(traceOf([]), { guesses, times: { steps: STEPS, between: null, said: "of_run" } }), STATE).lengths[4];
  return [acceptance, tokens, speedup];
});
each("a replayed round", [[[2, 1, "correction", [" x"], 1], [1, 0, "bonus", [], 0]], [[1, 0, "none", [" x", " y"], 0]]],
  (rounds) => unfold(rounds, [" a", " b", " c", " d", " e"]).map(({ start, chips }) => [start, ...chips.map(({ text, status }) => `${text} ${status}`)]));

// ---- trees

const TREE = { parents: [-1, -1, 0, 0, 1, 1, 2, 5], rows: [[0, 2, 6], [3], [1, 4], [5, 7]], folded: [], best: null };
const FOLDED = { ...TREE, folded: [1, 3], best: 0.03 };
const never = () => false;
of("a tree on screen", [["whole", TREE, false, never], ["folded", FOLDED, false, never], ["opened", FOLDED, true, never], ["a folded path is accepted", FOLDED, false, (node) => [1, 5, 7].includes(node)]],
  (tree, open, accepted) => [rowsOf(tree, open, accepted), foldedHeight(tree), hiddenGuesses(tree), depthsOf(tree), [1, 5, 6].map((node) => siblingsOf(tree, node))]);
of("where keys lead from each guess", [["whole", TREE], ["folded", FOLDED]], (tree) => Object.fromEntries(["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End", "a"].map((key) => {
  const rows = rowsOf(tree, false, never);
  return [key, rows.map((row, node) => (row === null ? "-" : stepFrom(tree, rows, node, key) ?? "nowhere")).join(" ")];
})));
of("a tree in rows", [["of a chain there is none", roundOf("aar")], ["small", treeRound("n-1 n-1 n0 n0", "correction")], ["large", treeRound(BIG, "bonus")]], treeOf);

// ---- the lessons' pictures

const chip = (text, status, more = {}) => ({ text, status, ...more });
const WRITTEN = {
  prompt: { hidden: 0, tokens: ["<|endoftext|>", "One", " day"] },
  rounds: [
    { chips: [chip(" a", "accepted"), chip(" dog", "accepted"), chip(" ran", "bonus")] },
    { chips: [chip(" to", "accepted"), chip(" my", "rejected"), chip(" house", "discarded"), chip(" the", "correction")] },
    { chips: [chip(" park", "accepted"), chip(".", "accepted")] },
  ],
};
each("what a pass reads, expects and shows next", [0, 1, 2], (index) => placesOf(WRITTEN, index).map(({ read, expected, next }) => [read, expected?.text, next?.text].join(" →")));
of("what the target alone has written", [["without special tokens", { ...WRITTEN, rounds: [{ chips: [chip(" a", "own")] }, { chips: [chip(" dog", "own")] }] }]], (run) => writtenAt(run, 1));
const [SAFE, RISKY, LOST] = [judged("safe", "accepted", 1, 0.7), judged("risky", "accepted", 0.3, 0.7), judged("lost", "rejected", 0.5, 0.7)];
of("what the dice roll is about", [["rejected", [SAFE, RISKY, LOST]], ["the smallest chance", [SAFE, RISKY]], ["nothing was drawn", [{ ...SAFE, u: null }]]], (chips) => rolled({ chips })?.text);
of("shares of the leftover", [["all others have a quarter", [chip("a", "correction", { residual: [["a", 0.5, true], ["b", 0.25, false]] })]], ["all is known", [chip("a", "correction", { residual: [["a", 1, true]] })]], ["none", [chip("x", "accepted")]]],
  (chips) => sharesOf({ chips }, "others"));
of("what is drafted after the first unsure guess", [["unsure", [0.9, 0.3, 0.8]], ["sure", [0.9, 0.5]]], (qs) => stopsOf({ chips: [...qs.map((q, i) => chip("a", i ? "discarded" : "accepted", { q })), chip("x", "correction")] }, 0.4).map(({ beyond }) => beyond));

// ---- what a visitor did in the tour

const BEATS = [["accepted", "correction"], ["accepted", "rejected", "correction"], ["accepted", "accepted", "bonus"]].map((statuses) => ({ chips: statuses.map((status, i) => ({ status, text: "abc"[i] })) }));
const START = { step: 3, last: 8, round: 1, phase: "propose", done: 1, chosen: null, released: null };
const beat = (until, did = { done: "done" }) => ({ until, did, round: 1, phase: "propose", least: 8 });
const GUESSED = beat("guessed", { rejected: "{token} fails", accepted: "{token} stays", discarded: "{token} is never judged" });
const [OPENED, FULL, LENGTH] = [beat("opened"), beat("full", { done: "round {round}: {drafted}, {token}" }), beat("length", { done: "{length}: {passes} passes, {wasted} wasted" })];
const token = (status, round = 1) => ({ chosen: { round, status, text: " big" } });
const let_go = (length) => ({ released: { length, run: { rounds: Array(19).fill([0, 0, "none", [], 0]), rejected: 16, discarded: 78 } } });
of("what was done in the tour", [
  ["checked: nothing yet", beat("checked"), {}], ["checked: a step back", beat("checked"), { round: 0, phase: "judge" }], ["checked", beat("checked"), { phase: "check" }], ["checked: the next round", beat("checked"), { round: 2 }],
  ["guessed: nothing yet", GUESSED, {}], ["guessed: in another round", GUESSED, token("rejected", 0)], ["guessed: no guess", GUESSED, token("correction")], ...["rejected", "accepted", "discarded"].map((status) => [`guessed: ${status}`, GUESSED, token(status)]),
  ["opened: not judged yet", OPENED, token("rejected")], ["opened: an accepted one", OPENED, { done: 2, ...token("accepted") }], ["opened", OPENED, { done: 2, ...token("rejected") }],
  ["full: with a wrong guess", FULL, { phase: "judge" }], ["full: not judged yet", FULL, { round: 2, phase: "check" }], ["full", FULL, { round: 2, phase: "judge" }],
  ["full: without a draft", FULL, { phase: "judge" }, [{ chips: [] }, { chips: [{ status: "bonus", text: "a" }] }]], ["full: no round", FULL, { phase: "judge" }, []],
  ["length: nothing yet", LENGTH, {}], ["length: too short", LENGTH, let_go(7)], ["length", LENGTH, let_go(8)], ["length: longer", LENGTH, let_go(16)],
  ["ended: not yet", beat("ended"), { step: 7 }], ["ended", beat("ended"), { step: 8 }],
], (asked, doing, rounds = BEATS) => whatWasDone(asked, { ...START, ...doing }, rounds));

// ---- under load

const SENTENCES = { headline: "{word}, {times}", verdict: "{check} for {tokens}, {round} for {written}.", above: "above {needed}", always: "always", never: "never", free: "free.", experts: "{more_experts} experts, not {experts}.", busy: "{all} tokens.", caches: "{share} attention.", speeds: "{alone}", memory: "{memory}" };
const HELP = { neutral: 1.05, helps: "Helps", even: "About even", hurts: "Hurts" };
of("a verdict under load", [
  ["one text", 1, 512], ["a large batch", 256, 512], ["long texts", 128, 8192], ["more than one machine", 512, 131072], ["experts", 1, 512, LOAD.models[2]],
  ["never", 4096, 1, LOAD.models[0], { ...DRAFT, cost: 0.5 }], ["always", 1, 512, LOAD.models[0], { ...DRAFT, cost: 0 }],
], (...round) => loadOutcome(loadOf(...round), { sentences: SENTENCES, judged: HELP }));
each("the word for a speedup", [1.06, 1.05, 1, 0.96, 0.95], (ratio) => wordOf(ratio, HELP));
each("a time", [0.00001, 0.0031, 0.031, 1.5], inMs);
each("a setting", [["alpha", 0.7], ["cost", 0.05], ["batch", 1]], ([name, value]) => valueOf(name, value, { steps: "passes", text: "text" }));
each("an unknown name stays", ["{a} of {b}"], (text) => filled(text, { a: "1" }));

// ---- figures, texts, names, charts

each("a probability", [0, 1, 0.5, 0.314, 0.0784, 0.00784, 0.00004, 0.9949, 0.9952, 0.9996, null], prob);
each("a share, a ratio and times", [0.786, 1.9, 12.34, 9.94, 10.4, 1234, null], (value) => [percent(value), times(value), milliseconds(value), seconds(value)]);
each("what cannot be seen", [" the\n\tend", "", "\x00\x7f", "\u200b\u202e\ufeff", "naïve 猫 👩‍👧"], visible);
each("a token in a sentence", [" cat", " ", "a".repeat(30)], quoted);
each("a text is cut between characters", ["🐦🐦🐦", "🐦🐦🐦🐦"], (text) => shorten(text, 3));
each("a part of a character", [" ö(2/2)", "😀(1/4)", "ö", " the", "⟨C3⟩", "1/2", "½", ""], partOfCharacter);
each("how light a colour is", ["rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgb(128, 128, 128)", "rgb(15, 19, 24)", ""], (colour) => luminance(colour).toFixed(3));
each("a file's name", ["Speedup by draft length, γ = 1 to 8.", "../../etc/passwd", "", "a ".repeat(50)], fileName);
each("a link", [[7, undefined], [-1, undefined], [0, "simple"], [0, "full"], [0, "projector"], [0, "stage"]], ([step, view]) => String(queryOf({ prompt: "a & b", run: "first" }, step, view)));
each("round numbers of an axis", [[[0, 1.68], 4], [[0, 83], 9], [[118, 201], 9], [[0, 0.03], 4], [[0, 12_345], 4], [[3, 3], 4]], ([span, most]) => roundNumbers(span, most));
each("where a value is drawn", [0, 1, 2, 9], (value) => new Plane({ clientWidth: 120, clientHeight: 110 }, { l: 10, r: 10, t: 5, b: 5 }, [0, 10], [0, 2]).y(value));
const LOOK = { ink: "black", mute: "grey", line: "silver", veil: "clear", background: "white", font: "serif", room: 28 };
of("a chart", [["its layout", { height: 300, xaxis: { title: { text: "γ" }, dtick: 1 } }], ["of its own look", {}]], (layout) => layoutOf(layout, LOOK, 640));
const FIGURE = { data: [{ line: { color: "var(--ink)" }, colorscale: [[0, "#D55E00"], [0.5, "var(--line)"]], name: "var(--ink) in a text", x: [1, null] }] };
of("a chart's colours", [["themed", FIGURE]], (figure) => [themed(figure, LOOK).data, figure.data[0].line]);
const BASE = { a: { b: 1, c: { d: 2, e: 3 } }, list: [1, 2], kept: 0 };
of("objects are merged", [["both, and the first one as it was", BASE]], (base) => [merged(base, { a: { c: { d: 4 } }, list: [5], more: null }), base]);

process.stdout.write(JSON.stringify(MADE, sevenDigits));
