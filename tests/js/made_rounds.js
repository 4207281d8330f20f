// Rounds and runs for tests, written in a few letters.

/** @import { DraftGuesses, DraftedToken, EmittedToken, MethodPayload, Round, SentRun, Status, Trace } from "../../assets/browser/dist/payloads.js" */

/** @type {Record<string, Status>} */
const WORDS = { a: "accepted", r: "rejected", d: "discarded", n: "not taken" };

/** @type {MethodPayload} */
export const MODEL = {
  kind: "model",
  by_hand: false,
  at_once: false,
  sees_state: false,
  title: "",
  gives: "The draft gave it",
  certain: "",
  subject: "the draft",
  several: false,
  proposes: "",
  nothing: "Nothing is drafted.",
};

/**
 * @param {number} id
 * @param {string} letter of its status
 * @returns {DraftedToken}
 */
export function drafted(id, letter, text = `t${id}`) {
  return { id, text, status: WORDS[letter], target_prob: null, draft_prob: null, accept_prob: null, u: null, candidates: [] };
}

/**
 * @param {EmittedToken["kind"]} kind
 * @returns {EmittedToken}
 */
export function emitted(kind, id = 99, text = "x") {
  return { kind, id: kind === "none" ? null : id, text: kind === "none" ? "" : text, target_prob: null, candidates: [], residual_top: [] };
}

/**
 * A round from its statuses' initials: a(ccepted), r(ejected), d(iscarded); it takes 1, 4 and 0.5 seconds.
 * @param {string} statuses
 * @param {EmittedToken["kind"]} kind
 * @returns {Round}
 */
export function roundOf(statuses, kind = "correction") {
  return {
    index: 0,
    draft_seconds: 1,
    verify_seconds: 4,
    overhead_seconds: 0.5,
    drafted: [...statuses].map((letter, i) => drafted(i, letter)),
    emitted: emitted(kind),
  };
}

/**
 * A round whose draft is a tree: each guess's status and parent, as in "r-1 a-1 n0"; n: not taken.
 * @param {string} nodes
 * @param {EmittedToken["kind"]} kind
 * @returns {Round}
 */
export function treeRound(nodes, kind) {
  const guesses = nodes.split(" ").map((node, i) => ({ ...drafted(i, node[0]), parent: Number(node.slice(1)) }));
  return { ...roundOf("", kind), drafted: guesses };
}

/**
 * @param {Round[]} rounds
 * @param {Partial<Trace>} [more]
 * @returns {Trace}
 */
export function traceOf(rounds, more = {}) {
  const drafter = { kind: "model", name: "small", parameters: 1, dtype: "float32", weights_hash: "", forward: null };
  return {
    schema: 2,
    created: "2026-01-01T00:00:00+00:00",
    recorded_on: { machine: "a machine", torch: "", transformers: "", threads: 1 },
    target: { name: "big", parameters: 2, dtype: "float32", weights_hash: "", forward: null },
    drafter,
    settings: {
      max_new_tokens: 64,
      draft_length: 4,
      temperature: 0,
      top_k: null,
      top_p: null,
      seed: 0,
      stop_at_eos: true,
      draft_schedule: "fixed",
      draft_sampling: "sample",
      verification: "token",
      tree: null,
      prompt_format: "raw",
    },
    prompt: { text: "", token_ids: [], tokens: ["Once"] },
    prefill_seconds: { target: 0, draft: 0 },
    rounds,
    autoregressive: null,
    output: { token_ids: [], text: "", stopped_by: "length" },
    ...more,
  };
}

/**
 * @param {Trace} trace
 * @param {Partial<SentRun>} [more]
 * @returns {SentRun}
 */
export function sentRun(trace, more = {}) {
  return { trace, hidden: 0, method: MODEL, guesses: null, times: null, ...more };
}

/**
 * What a draft would guess along an output.
 * @param {number[]} tokens the output
 * @param {number[] | null} guesses at each place
 * @param {number[][] | null} [proposals] from each place
 * @returns {DraftGuesses}
 */
export function guessesOf(tokens, guesses, proposals = null) {
  const drafter = /** @type {DraftGuesses["drafter"]} */ (traceOf([]).drafter);
  const pieces = Object.fromEntries([...tokens, ...(guesses ?? []), ...(proposals ?? []).flat()].map((id) => [id, ` ${id}`]));
  return { drafter, token_ids: tokens, guesses, proposals, pieces, exact: true, seconds: 0 };
}
