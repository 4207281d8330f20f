/**
 * Both decoders in turns: after each speculative round the target alone writes as many tokens.
 *
 * Whatever slows the machine for a moment then slows both, so their ratio hardly changes. Each has its own cache.
 * The same as `specviz/decoding/alternating.py`.
 */
import type { Round } from "../dist/payloads.js";
import type { AutoregressiveRun, Step } from "./autoregressive.js";
import type { SpeculativeRun } from "./speculative.js";

/**
 * Yields each round and each plain step as it ends. The target alone reads the prompt after the first round, so that this is
 * seen sooner; null between two such passes. Two sampled texts may differ in length. At the end the longer one goes on
 * alone.
 */
export function* takeTurns(speculative: SpeculativeRun, plain: AutoregressiveRun): Generator<{ round: Round } | { step: Step } | null> {
  const steps = plain.steps();
  for (const round of speculative.rounds()) {
    yield { round };
    for (const _ of plain.readPrompt()) yield null;
    const written = round.drafted.filter(({ status }) => status === "accepted").length + (round.emitted.kind === "none" ? 0 : 1);
    for (let count = 0; count < written; count += 1) {
      const { value, done } = steps.next();
      if (done) break;
      yield { step: value };
    }
  }
  for (const step of steps) yield { step };
}
