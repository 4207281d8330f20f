// What the lesson about load says in words: labels, the verdict and its reasons, in both voices. Pure.

import { percent, times } from "../shared/numbers.js";
import { breakEven, checkCost, pass, roundCost, speedup, tokensOfRound } from "./model.js";

/** @import { JudgedPayload, RooflinePayload } from "../shared/payloads.js" */
/** @import { Pass, Setting, Speculation } from "./model.js" */

/** @typedef {RooflinePayload["words"]} Voice */

const FREE = 1.05; // a check that takes less costs nearly nothing more
const MORE_EXPERTS = 1.2; // from here a check fetches clearly more weights than a plain pass
const MOSTLY = 0.5; // of a pass

const TECHNICAL = {
  machine: "Machine",
  model: "Target",
  batch: "Batch size",
  context: "Context length",
  experts: "Experts in a layer",
  active: "Active for each token",
  alpha: "Acceptance of judged guesses",
  length: "Draft length",
  cost: "Cost of a guess",
  load: "Load",
  draft: "Draft",
  texts: (/** @type {number} */ number) => (number === 1 ? "1 text" : `${number} texts`),
  tokens: (/** @type {number} */ number) => (number === 1 ? "1 token" : `${grouped(number)} tokens`),
  dense: "1, dense",
  steps: (/** @type {string} */ number) => `${number} plain passes`,
  matrices: "matrices",
  attention: "attention",
  plain: "Plain pass",
  check: "Check",
  each: "of each text",
  fetching: "fetching bytes",
  computing: "arithmetic",
  waits: "waits for memory",
  busy: "busy with arithmetic",
  across: "operations for each byte fetched",
  up: "trillion operations a second, at most",
  corner: "corner",
  roof: "The roof of this machine, with both kinds of work of a pass",
  bars: "Time of a pass, at least",
  longer: "For each kind of work, the longer bar counts.",
  map: "Speedup by batch (across) and context length (down)",
  too: "in italics: needs more memory than this machine has",
  alone: "target alone",
  together: "with drafts",
  latency: "latency: a token of each text",
  throughput: "throughput: all texts",
  second: "tokens/s",
  bound: "Modelled, an upper bound: real passes reach less.",
  published: "as published:",
  show: "Show",
  asked: "Three questions",
};

/** @type {typeof TECHNICAL} */
const PLAIN = {
  ...TECHNICAL,
  model: "Editor",
  batch: "Texts at once",
  context: "Length of each text so far",
  experts: "Members of the team",
  active: "Members for each word",
  alpha: "Read suggestions that stay",
  length: "Words suggested at a time",
  cost: "Cost of a suggestion",
  draft: "Intern",
  tokens: (number) => (number === 1 ? "1 word" : `${grouped(number)} words`),
  dense: "1, no team",
  steps: (number) => `${number} plain looks`,
  matrices: "the book",
  attention: "the notes",
  plain: "Plain look",
  check: "Look at suggestions",
  fetching: "fetching",
  computing: "calculating",
  busy: "busy calculating",
  across: "calculations for each byte fetched",
  up: "trillion calculations a second, at most",
  roof: "What this machine can do, and where its work is",
  bars: "Time of a look, at least",
  map: "Speedup by texts at once (across) and their length (down)",
  alone: "editor alone",
  together: "with the intern",
  latency: "a word of each text",
  throughput: "all texts together",
  second: "words/s",
  bound: "Modelled, not measured: real machines reach less.",
};

/** @type {Record<Voice, typeof TECHNICAL>} */
export const LABELS = { technical: TECHNICAL, plain: PLAIN };

/** @param {number} number with a comma between thousands */
export function grouped(number) {
  return Math.round(number).toLocaleString("en-US");
}

/**
 * Milliseconds to two digits that count: 0.31 ms, 3.1 ms, 31 ms.
 * @param {number} seconds
 */
export function inMs(seconds) {
  const ms = 1000 * seconds;
  return `${ms < 1 ? ms.toFixed(2) : ms < 10 ? ms.toFixed(1) : grouped(ms)} ms`;
}

/** @param {number} bytes */
export function inGb(bytes) {
  return `${grouped(bytes / 1e9)} GB`;
}

/**
 * The word of a speedup that no clock measured: its size decides.
 * @param {number} ratio
 * @param {JudgedPayload} judged
 * @returns {"helps" | "even" | "hurts"}
 */
export function wordOf(ratio, { neutral }) {
  return ratio > neutral ? "helps" : ratio < 1 / neutral ? "hurts" : "even";
}

/**
 * "Helps, 2.31×, modelled".
 * @param {number} ratio
 * @param {JudgedPayload} judged
 */
export function headline(ratio, judged) {
  const word = judged[wordOf(ratio, judged)];
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}, ${times(ratio)}, modelled`;
}

/**
 * What a round costs and brings, and from which acceptance on it gains.
 * @param {Setting} setting
 * @param {Speculation} speculation
 * @param {Voice} voice
 */
export function verdict(setting, speculation, voice) {
  const checked = speculation.length + 1;
  const [check, round, written, gain] = [
    checkCost(setting, checked),
    roundCost(setting, speculation),
    tokensOfRound(speculation.alpha, speculation.length),
    speedup(setting, speculation),
  ].map((number) => number.toFixed(2));
  const needed = breakEven(setting, speculation);
  const said = LABELS[voice];
  const what = voice === "plain" ? "A look" : "A check";
  const gains = needed === null ? "No acceptance is enough" : needed === 0 ? "Any acceptance gains" : `It gains above ${percent(needed)} acceptance`;
  return (
    `${what} at ${said.tokens(checked)} ${said.each} takes ${said.steps(check ?? "")}. A round takes ${round} and writes ${written} on ` +
    `average: ${written} / ${round} = ${gain}. ${gains}; the slider says ${percent(speculation.alpha)}.`
  )
    .replace("A check at", "A check of")
    .replaceAll(" %", "\u00a0%");
}

/**
 * Why a check is cheap or expensive here.
 * @param {Setting} setting
 * @param {number} length of a draft
 * @param {Voice} voice
 */
export function reasons(setting, length, voice) {
  const [plain, check] = [pass(setting, 1), pass(setting, length + 1)];
  const found = [];
  const free = check.seconds < FREE * plain.seconds;
  if (free) found.push(FREE_IN[voice]);
  if (check.touched > MORE_EXPERTS * plain.touched) found.push(expertsIn(plain, check, voice));
  if (!free && check.weights.computing > check.weights.fetching) found.push(busyIn(setting.batch * (length + 1), voice));
  if (plain.caches.seconds > MOSTLY * plain.seconds) found.push(cachesIn(plain, voice));
  return found.join(" ").replaceAll(" %", "\u00a0%");
}

/** @type {Record<Voice, string>} */
const FREE_IN = {
  technical: "The passes fetch nearly the same bytes and mostly wait for them: the further tokens of a check use that waiting time.",
  plain: "The machine mostly waits for what it fetches. The suggested words use that waiting time.",
};

/**
 * @param {Pass} plain
 * @param {Pass} check
 * @param {Voice} voice
 */
function expertsIn(plain, check, voice) {
  const [few, many] = [plain.touched.toFixed(1), check.touched.toFixed(1)];
  return voice === "plain"
    ? `The look at suggestions needs ${many} members of the team, the plain look ${few}: more must be fetched.`
    : `The check needs ${many} different experts of a layer on average, the plain pass ${few}: it fetches more weights.`;
}

/**
 * @param {number} tokens
 * @param {Voice} voice
 */
function busyIn(tokens, voice) {
  return voice === "plain"
    ? `With ${grouped(tokens)} words in one look the machine is busy calculating. There each further word takes its own time.`
    : `With ${grouped(tokens)} tokens in one pass the matrices are past the corner of the roof: there each further token takes its own time.`;
}

/**
 * @param {Pass} plain
 * @param {Voice} voice
 */
function cachesIn(plain, voice) {
  const share = percent(plain.caches.seconds / plain.seconds);
  return voice === "plain"
    ? `${share} of the plain look is fetching the notes on the texts. They are fetched once for all suggested words.`
    : `${share} of the plain pass is attention. The check fetches each text’s keys and values once for all its tokens.`;
}

/**
 * A text with its figures.
 * @param {string} text
 * @param {Record<string, string>} figures
 */
export function filled(text, figures) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => figures[name] ?? whole);
}
