// A run in sentences: what was run, each round in the words of the stage, what came of it. To read, to hear, to copy.

import { percent } from "../shared/numbers.js";
import { quoted, visible } from "../shared/text.js";
import { draftName, shortName } from "../trace/names.js";
import { merged, writtenIn } from "../trace/readable.js";
import { progress } from "./plain_words.js";
import { nameOf, say } from "./words.js";

/** @import { ChipStatus, SentRun, StagePayload } from "../shared/payloads.js" */

/** @typedef {{ before: string[], rounds: string[], after: string[] }} Account */

const SPECIAL = /^<.+>$/; // a special token, not a part of the text that a person wrote
const MANY = 8; // tokens that are named of one status
/** @type {ChipStatus[]} in the order of their names in a sentence */
const ORDER = ["accepted", "rejected", "discarded", "not taken", "correction", "bonus", "own"];

/**
 * Who drafted for whom.
 * @param {SentRun} run
 */
export function titleOf({ trace, method }) {
  const target = shortName(trace.target.name);
  if (method.by_hand) return say("you_draft", { target });
  return trace.drafter ? say("drafts_for", { draft: draftName(trace), target }) : target;
}

/**
 * What a run depends on most, behind its title.
 * @param {StagePayload} data
 * @param {SentRun} run
 */
export function settingsInWords({ tree, draft_length: length, greedy }, { trace }) {
  const drafted = tree ? say("tree", { tree }) : say("of_length", { length });
  const chosen = greedy ? say("greedy") : say("temperature", { temperature: Number(trace.settings.temperature.toPrecision(6)) });
  return trace.drafter ? `${drafted}, ${chosen}` : chosen;
}

/**
 * @param {StagePayload} data
 * @param {SentRun} run the run that is drawn
 * @returns {Account}
 */
export function accountOf(data, run) {
  const { rounds } = data;
  const { hidden, tokens } = data.prompt;
  const before = [`${titleOf(run)}: ${settingsInWords(data, run)}.`, say("the_prompt", { prompt: `${hidden ? "…" : ""}${inProse(tokens)}` })];
  if (!rounds.length) return { before, rounds: [], after: [data.idle] };
  return { before, rounds: rounds.map((_, index) => roundInWords(data, index)), after: outcome(data, run) };
}

/**
 * Tokens as a text on one line, with a sign for what cannot be seen.
 * @param {string[]} tokens
 */
function inProse(tokens) {
  const words = tokens.filter((text) => !SPECIAL.test(text)).join("").split(" ");
  return words.map((word) => (word ? visible(word) : "")).join(" ");
}

/**
 * @param {StagePayload} data
 * @param {number} index
 */
function roundInWords(data, index) {
  const { sentences, chips } = data.rounds[index];
  const tokens = ORDER.map((status) => named(status, chips.filter((chip) => chip.status === status).map(({ text }) => text)));
  return [say("account_round", { round: index + 1 }), ...new Set(sentences), ...tokens].filter(Boolean).join(" ");
}

/**
 * @param {ChipStatus} status
 * @param {string[]} texts
 */
function named(status, texts) {
  if (!texts.length) return "";
  const shown = texts.slice(0, MANY).map(quoted).join(", ");
  const tokens = texts.length > MANY ? say("tokens_and_more", { tokens: shown, more: texts.length - MANY }) : shown;
  return say(`tokens_${nameOf(status)}`, { tokens });
}

/**
 * What was counted, and the result as the stage has it.
 * @param {StagePayload} data
 * @param {SentRun} run
 */
function outcome(data, { trace }) {
  const { rounds, more, result, measured } = data;
  const verdict = result && !more ? [result.says, result.same, result.reason].filter(Boolean).map(ended) : [];
  return [
    say(more ? "wrote_so_far" : "wrote", { text: inProse(merged(trace.rounds.flatMap(writtenIn))) }),
    ended(countsAfter(data, rounds.length)),
    ...verdict,
    ended(say("figures_from", { measured })),
  ];
}

/**
 * What was counted up to a round.
 * @param {StagePayload} data
 * @param {number} done rounds
 */
export function countsAfter(data, done) {
  const { emitted, accepted, drafted, acceptance } = data.rounds[done - 1]?.after ?? { emitted: 0, accepted: 0, drafted: 0, acceptance: null };
  const made = progress(data, emitted, done, undefined, Infinity);
  return drafted ? say("progress_and_share", { progress: made, accepted, drafted, share: percent(acceptance) }) : made;
}

/** @param {string} sentence */
function ended(sentence) {
  return /[.!?。！？]$/.test(sentence) ? sentence : `${sentence}.`;
}

/**
 * As one text, to paste elsewhere.
 * @param {Account} account
 */
export function asText({ before, rounds, after }) {
  return [...before, "", ...rounds, "", ...after].join("\n");
}
