// Tables of cases that the tests of both languages read: what is computed in Python and in JavaScript alike.

import { readFileSync } from "node:fs";
import { roundOf, traceOf, treeRound } from "./made_rounds.js";

export function table(name) {
  return JSON.parse(readFileSync(new URL(`../fixtures/both/${name}.json`, import.meta.url), "utf-8"));
}

export function roundFrom(guesses, own, [draft, check, rest] = [1, 4, 0.5]) {
  const made = /[01]/.test(guesses) ? treeRound(guesses, own) : roundOf(guesses, own);
  return { ...made, draft_seconds: draft, verify_seconds: check, overhead_seconds: rest };
}

/** The run of a case, as `run_from` of tests/support/both.py reads it. */
export function runFrom({ rounds, plain = [], step = 1, times = 1, turns = false, over = true, draft = "model", name = "draft", prompt = "Once", draft_length = 4, target = "target", machine = "a machine", created = "2026-01-01T00:00:00+00:00", settings = {} }) {
  const repeated = (list) => Array.from({ length: times }, () => list).flat();
  const inSeconds = (units) => units.map((unit) => unit && unit * step);
  const made = traceOf(repeated(rounds).map(([guesses, own, ...units]) => roundFrom(guesses, own, units.length ? inSeconds(units) : undefined)));
  const seconds = inSeconds(repeated(Array.isArray(plain) ? plain : Array(plain).fill(1)));
  return {
    ...made,
    created,
    recorded_on: { ...made.recorded_on, machine },
    target: { ...made.target, name: target },
    settings: { ...made.settings, draft_length, ...settings },
    drafter: draft && { ...made.drafter, kind: draft, name },
    prompt: { text: prompt, token_ids: [1], tokens: [prompt] },
    autoregressive: seconds.length ? { seconds_per_token: seconds, token_ids: [], alternating: turns } : null,
    output: { token_ids: made.rounds.flatMap(idsOf), text: "", stopped_by: over ? "length" : null },
  };
}

function idsOf({ drafted, emitted }) {
  const ids = drafted.filter(({ status }) => status === "accepted").map(({ id }) => Number(id));
  return emitted.kind === "none" ? ids : [...ids, Number(emitted.id)];
}
