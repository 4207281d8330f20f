// A run in sentences: what was run, each round in the words of the stage, what came of it. To read, to hear, to copy.

import { isSpecial, quoted, visible } from "../shared/chips.js";
import { percent } from "../shared/numbers.js";
import { merged, writtenIn } from "../trace/readable.js";
import { draftName, shortName } from "../trace/words.js";
import { nameOf, progress, say } from "./words.js";
import type { ChipStatus, SentRun, StagePayload } from "../dist/payloads.js";

export type Account = { before: string[], rounds: string[], after: string[] };

const MANY = 8; // tokens that are named of one status
/** in the order of their names in a sentence */
const ORDER: ChipStatus[] = ["accepted", "rejected", "discarded", "not taken", "correction", "bonus", "own"];

export function titleOf({ trace, method }: SentRun) {
  const target = shortName(trace.target.name);
  if (method.by_hand) return say("you_draft", { target });
  return trace.drafter ? say("drafts_for", { draft: draftName(trace), target }) : target;
}

/** What a run depends on most, behind its title. */
export function settingsInWords({ tree, draft_length: length, greedy }: StagePayload, { trace }: SentRun) {
  const drafted = tree ? say("tree", { tree }) : say("of_length", { length });
  const chosen = greedy ? say("greedy") : say("temperature", { temperature: Number(trace.settings.temperature.toPrecision(6)) });
  return trace.drafter ? `${drafted}, ${chosen}` : chosen;
}

export function accountOf(data: StagePayload, run: SentRun): Account {
  const { rounds } = data;
  const { hidden, tokens } = data.prompt;
  const before = [`${titleOf(run)}: ${settingsInWords(data, run)}.`, say("the_prompt", { prompt: `${hidden ? "…" : ""}${inProse(tokens)}` })];
  if (!rounds.length) return { before, rounds: [], after: [data.idle] };
  const inWords = rounds.map(({ sentences, chips }, index) => {
    const tokens = ORDER.map((status) => named(status, chips.filter((chip) => chip.status === status).map(({ text }) => text)));
    return [say("account_round", { round: index + 1 }), ...new Set(sentences), ...tokens].filter(Boolean).join(" ");
  });
  return { before, rounds: inWords, after: outcome(data, run) };
}

/** Tokens as a text on one line, with a sign for what cannot be seen. */
function inProse(tokens: string[]) {
  const words = tokens.filter((text) => !isSpecial(text)).join("").split(" ");
  return words.map((word) => (word ? visible(word) : "")).join(" ");
}

function named(status: ChipStatus, texts: string[]) {
  if (!texts.length) return "";
  const shown = texts.slice(0, MANY).map(quoted).join(", ");
  const tokens = texts.length > MANY ? say("tokens_and_more", { tokens: shown, more: texts.length - MANY }) : shown;
  return say(`tokens_${nameOf(status)}`, { tokens });
}

/** What was counted, and the result as the stage has it. */
function outcome(data: StagePayload, { trace }: SentRun) {
  const { rounds, more, result, measured } = data;
  const verdict = result && !more ? [result.says, result.same, result.reason].filter(Boolean).map(ended) : [];
  return [
    say(more ? "wrote_so_far" : "wrote", { text: inProse(merged(trace.rounds.flatMap(writtenIn))) }),
    ended(countsAfter(data, rounds.length)),
    ...verdict,
    ended(say("figures_from", { measured })),
  ];
}

/** What was counted up to a round. `done`: rounds */
export function countsAfter(data: StagePayload, done: number) {
  const { emitted, accepted, drafted, acceptance } = data.rounds[done - 1]?.after ?? { emitted: 0, accepted: 0, drafted: 0, acceptance: null };
  const made = progress(data, emitted, done, undefined, Infinity);
  return drafted ? say("progress_and_share", { progress: made, accepted, drafted, share: percent(acceptance) }) : made;
}

function ended(sentence: string) {
  return /[.!?。！？]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** As one text, to paste elsewhere. */
export function asText({ before, rounds, after }: Account) {
  return [...before, "", ...rounds, "", ...after].join("\n");
}
