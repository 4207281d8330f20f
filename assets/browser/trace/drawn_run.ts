// From a trace to what the stage draws.

import { aloneSentences, narrate, plainSentences } from "./narration.js";
import { nameOf, resultOf } from "./outcome.js";
import { merged, readable } from "./readable.js";
import { replayOf } from "./replay.js";
import { addedIn, autoregressiveClock, emits, running, secondsOf, shown } from "./rounds.js";
import { treeOf } from "./tree_rows.js";
import type { Candidate, DiagramPayload, Round, SentRun, SentStage, ShareRow } from "../dist/payloads.js";
import type { CandidateRow, Chip, RoundPayload, Rule, RunPart, StagePayload } from "./drawn.js";

const SHOWN_PROMPT_TOKENS = 60;
const SHOWN = 3; // of a token's candidates

/** Everything the stage shows of a run, finished or not: what its trace says, and what only the server knows. */
export function drawnRun(sent: SentStage): StagePayload {
  const { run, before, ...state } = sent;
  const compared = before && { ...before, names: { run: nameOf(run.named, before.named), before: nameOf(before.named, run.named) } };
  return { ...state, ...howOf(run, state.running), ...partOf(sent), result: resultOf(sent), before: compared };
}

const computed: WeakMap<SentRun, { by: string, part: RunPart }> = new WeakMap(); // a page is drawn again with the run that it has

/** What is computed of the run alone. */
export function partOf(sent: Pick<SentStage, "run" | "running" | "why_not" | "diagram">): RunPart {
  const { run, running, why_not: why, diagram } = sent;
  const by = JSON.stringify([running, why, diagram?.picture, diagram?.words]);
  const found = computed.get(run);
  if (found?.by === by) return found.part;
  const { prompt: { tokens }, autoregressive } = run.trace;
  const last = tokens.slice(-SHOWN_PROMPT_TOKENS);
  const prompt = { hidden: run.hidden + tokens.length - last.length, tokens: merged(last) }; // those of one character as one
  const plain = autoregressive && autoregressiveClock(autoregressive, autoregressive.seconds_per_token.length).slice(1).map((seconds) => 1000 * seconds);
  const part = { replay: replayOf(run, sent), prompt, rounds: roundsOf(sent), plain };
  computed.set(run, { by, part });
  return part;
}

export function howOf({ trace, method }: SentRun, running: boolean) {
  const { settings, rounds } = trace;
  const rule: Rule = settings.tree ? "tree" : settings.verification === "block" && settings.temperature ? "block" : "token";
  return {
    greedy: !settings.temperature,
    drafter: method.kind, // as in traces
    method,
    rule,
    point_mass: Boolean(settings.temperature) && (settings.draft_sampling === "argmax" || Boolean(settings.tree?.startsWith("dynamic:"))), // the draft does not draw its guesses, so q is 1 on each
    tree: settings.tree,
    translated: rounds.some((round) => Boolean(round.draft_tokens?.length)), // the draft's tokens are not the target's
    timed: rounds.every((round) => secondsOf(round) !== null), // false: the rounds have no times, their `ms` are 0, and the stage draws no timeline
    imported: Boolean(trace.imported), // another system wrote the run
    draft_length: settings.draft_length,
    more: running && trace.output.stopped_by === null, // rounds may still come
  };
}

function roundsOf({ run, diagram }: Pick<SentStage, "run" | "diagram">): RoundPayload[] {
  const trace = readable(run.trace);
  const states = running(trace);
  return trace.rounds.map((round, index) => {
    const tree = treeOf(round);
    return {
      sentences: sentencesOf({ ...run, trace }, index, states[index].after.emitted, diagram),
      chips: chipsOf(round),
      ...(round.draft_tokens?.length && { draft_tokens: round.draft_tokens }),
      ...(tree && { tree }),
      ...states[index],
    };
  });
}

/** `index`: of the round. `emitted`: tokens up to the end of the round. `diagram`: of a lesson, which may have words of its own */
function sentencesOf({ trace, method }: SentRun, index: number, emitted: number, diagram?: DiagramPayload) {
  const { rounds, settings, output } = trace;
  const round = rounds[index];
  if (diagram?.picture === "alone") return aloneSentences(index, rounds.length, diagram.words);
  const ends = output.stopped_by === "eos" && index === rounds.length - 1;
  if (diagram?.words === "plain") return plainSentences(round, ends);
  const most = trace.imported ? Infinity : settings.max_new_tokens; // a limit is often not reported
  return narrate(round, method, most - emitted + emits(round), ends);
}

// ---- the tokens of a round as chips: what the strip draws and the inspector explains

/** The drafted tokens, then the target's own one. */
export function chipsOf(round: Round): Chip[] {
  const chips = round.drafted.map((token): Chip => {
    const { status, target_prob: p = null, draft_prob: q = null, accept_prob = null, u = null, candidates = [] } = token;
    const text = shown(token);
    if (status === "discarded") return { text, status, q };
    if (status === "not taken") return { text, status, p, q };
    return { text, status, p, q, accept_prob, u, candidates: candidateRows(candidates, token.id) };
  });
  const status = addedIn(round);
  if (status === "none") return chips;
  const { id = null, text = "", target_prob: p = null, candidates = [], residual_top: top = [] } = round.emitted;
  const wanted = top.toSorted((a, b) => Number(a[0] !== id) - Number(b[0] !== id) || b[2] - a[2]).slice(0, SHOWN); // this token among them where it was recorded
  const residual = wanted.toSorted((a, b) => b[2] - a[2]).map(([each, said, share]): ShareRow => [said, share, each === id]);
  return [...chips, { text, status, p, candidates: candidateRows(candidates, id), residual }];
}

/** The token itself, each model's most probable one and the next most probable ones, ordered by p. */
function candidateRows(candidates: Candidate[], own: number | null): CandidateRow[] {
  if (!candidates.length) return [];
  const larger = ([, , p, q]: Candidate) => Math.max(p, q ?? 0);
  const ranked = candidates.toSorted((a, b) => Number(a[0] !== own) - Number(b[0] !== own) || larger(b) - larger(a));
  const byTarget = candidates.toSorted((a, b) => b[2] - a[2]);
  const byDraft = candidates.toSorted((a, b) => (b[3] ?? 0) - (a[3] ?? 0));
  const wanted = [...new Set([ranked[0], byTarget[0], byDraft[0], ...ranked])].slice(0, SHOWN);
  const ordered = wanted.toSorted((a, b) => b[2] - a[2] || (b[3] ?? 0) - (a[3] ?? 0));
  return ordered.map(([id, text, p, q]) => [text, p, q, id === own]);
}

