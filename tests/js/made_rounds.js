// @ts-check
// Rounds and runs for tests, written in a few letters; what the stage makes of a run; and rounds under load.

import { readFileSync } from "node:fs";
import { roundOf as loadRound } from "../../assets/browser/roofline/model.js";
import { drawnRun } from "../../assets/browser/trace/drawn_run.js";
import { draftName } from "../../assets/browser/trace/words.js";

/** @import { Autoregressive, DraftGuesses, DraftedToken, EmittedToken, MethodPayload, ModelShape, PublishedMachine, Result, Round, SentRun, SentStage, StageState, Status, Trace } from "../../assets/browser/dist/payloads.js" */

export const HOSTILE = "<script>alert(1)</script>&\"'";

/** @type {Record<string, Status>} */
const WORDS = { a: "accepted", r: "rejected", d: "discarded", n: "not taken" };

/** @type {MethodPayload} */
export const MODEL = {
  kind: "model", by_hand: false, at_once: false, sees_state: false, several: false,
  title: "", gives: "The draft gave it", certain: "", subject: "the draft", proposes: "", nothing: "Nothing is drafted.",
};

/** `letter`: of its status. @type {(id: number, letter: string, text?: string) => DraftedToken} */
export const drafted = (id, letter, text = `t${id}`) =>
  ({ id, text, status: WORDS[letter], target_prob: null, draft_prob: null, accept_prob: null, u: null, candidates: [] });

/** @type {(kind: EmittedToken["kind"], id?: number, text?: string) => EmittedToken} */
export const emitted = (kind, id = 99, text = "x") =>
  ({ kind, id: kind === "none" ? null : id, text: kind === "none" ? "" : text, target_prob: null, candidates: [], residual_top: [] });

/** Statuses: a(ccepted), r(ejected), d(iscarded). It takes 1, 4 and 0.5 seconds. @type {(statuses: string, kind?: EmittedToken["kind"]) => Round} */
export const roundOf = (statuses, kind = "correction") => ({
  index: 0, draft_seconds: 1, verify_seconds: 4, overhead_seconds: 0.5,
  drafted: [...statuses].map((letter, i) => drafted(i, letter)), emitted: emitted(kind),
});

/** Its draft is a tree: each guess's status and parent, as in "r-1 a-1 n0"; n: not taken. @type {(nodes: string, kind: EmittedToken["kind"]) => Round} */
export const treeRound = (nodes, kind) =>
  ({ ...roundOf("", kind), drafted: nodes.split(" ").map((node, i) => ({ ...drafted(i, node[0]), parent: Number(node.slice(1)) })) });

/** @type {(rounds: Round[], more?: Partial<Trace>) => Trace} */
export const traceOf = (rounds, more = {}) => ({
  schema: 2,
  created: "2026-01-01T00:00:00+00:00",
  recorded_on: { machine: "a machine", torch: "", transformers: "", threads: 1 },
  target: { name: "big", parameters: 2, dtype: "float32", weights_hash: "", forward: null },
  drafter: { kind: "model", name: "small", parameters: 1, dtype: "float32", weights_hash: "", forward: null },
  settings: {
    max_new_tokens: 64, draft_length: 4, temperature: 0, top_k: null, top_p: null, seed: 0, stop_at_eos: true,
    draft_schedule: "fixed", draft_sampling: "sample", verification: "token", tree: null, prompt_format: "raw",
  },
  prompt: { text: "", token_ids: [], tokens: ["Once"] },
  prefill_seconds: { target: 0, draft: 0 },
  rounds,
  autoregressive: null,
  output: { token_ids: [], text: "", stopped_by: "length" },
  ...more,
});

/** The target alone, in so many steps. @type {(steps: number, seconds?: number) => Autoregressive} */
export const alone = (steps, seconds = 2) => ({ seconds_per_token: Array(steps).fill(seconds), token_ids: [] });

/** @type {(trace: Trace, more?: Partial<SentRun>) => SentRun} */
export function sentRun(trace, more = {}) {
  const { settings, target, prompt, created, recorded_on: { machine } } = trace;
  const named = { ...settings, draft: draftName(trace), target: target.name, prompt: prompt.text, words: "", manner: "", machine, created };
  return { trace, hidden: 0, method: MODEL, guesses: null, times: null, named, ...more };
}

/** What a draft would guess along an output: at each place, or several from each. @type {(tokens: number[], guesses: number[] | null, proposals?: number[][] | null) => DraftGuesses} */
export function guessesOf(tokens, guesses, proposals = null) {
  const drafter = /** @type {DraftGuesses["drafter"]} */ (traceOf([]).drafter);
  const pieces = Object.fromEntries([...tokens, ...(guesses ?? []), ...(proposals ?? []).flat()].map((id) => [id, ` ${id}`]));
  return { drafter, token_ids: tokens, guesses, proposals, pieces, exact: true, seconds: 0 };
}

/** A run as the stage holds it, with a result in words. @type {(rounds: Round[], more?: Partial<Omit<StageState, "result">> & { result?: Result }, trace?: Partial<Trace>) => { data: ReturnType<typeof drawnRun>, run: SentRun }} */
export function shownRun(rounds, { result, ...more } = {}, trace = {}) {
  const run = sentRun(traceOf(rounds, trace));
  const state = { running: false, phases: ["propose", "check", "judge"], badge: "recorded run", measured: "measured on a machine" };
  const sent = { ...state, idle: "Waiting for the first round…", ...more, run };
  return { data: { ...drawnRun(/** @type {SentStage} */ (/** @type {unknown} */ (sent))), result }, run };
}

/** The published machines and models. @type {{ machines: PublishedMachine[], models: (ModelShape & { billions: number })[] }} */
export const LOAD = JSON.parse(readFileSync(new URL("../../assets/measured/machines.json", import.meta.url), "utf8"));
export const DRAFT = { alpha: 0.7, length: 4, cost: 0.05 };

/** A round of so many texts of so many tokens. */
export const loadOf = (/** @type {number} */ batch, /** @type {number} */ context, { name } = LOAD.models[0], draft = DRAFT) =>
  loadRound({ machine: "MI300X", model: name, batch, context, ...draft }, LOAD);
