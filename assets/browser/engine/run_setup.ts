/**
 * What both decoders do before the first step: tokenize the prompt and check that the run fits the models.
 * The same as `specviz/decoding/run_setup.py`.
 */

import { PlainError } from "./plain_error.js";
import { say } from "./words.js";
import type { Autoregressive, DecodeSettings, DrafterInfo, Machine, PrefillSeconds, Prompt, Round, Trace } from "../dist/payloads.js";
import type { LoadedModel } from "./loaded_model.js";

const SCHEMA = 2;

export interface RunSetup {
  target: LoadedModel;
  settings: DecodeSettings;
  prompt: Prompt;
  ends: Set<number>; // ids that end the output; empty when end of text is ignored
  created: string;
}

export function setUpRun(target: LoadedModel, draft: LoadedModel | null, prompt: string, settings: DecodeSettings): RunSetup {
  if (!prompt) throw new PlainError(say("no_prompt"));
  const tokenIds = target.tokenizer.encode(prompt);
  for (const loaded of [target, draft]) {
    if (!loaded || tokenIds.length + settings.max_new_tokens <= loaded.context) continue;
    const { name, context } = loaded;
    throw new PlainError(say("too_long", { prompt: tokenIds.length, new: settings.max_new_tokens, name, context }));
  }
  const shown = { text: prompt, token_ids: tokenIds, tokens: tokenIds.map((id) => target.tokenizer.shown(id)) };
  const created = `${new Date().toISOString().slice(0, 19)}+00:00`;
  return { target, settings, prompt: shown, ends: settings.stop_at_eos ? target.ends : new Set(), created };
}

/** The run so far as a trace. */
export function traceOf(setup: RunSetup, { machine, drafter, prefill, rounds, plain, written }: { machine: Machine; drafter: DrafterInfo | null; prefill: PrefillSeconds; rounds: Round[]; plain: Autoregressive | null; written: number[] }): Trace {
  return {
    schema: SCHEMA,
    created: setup.created,
    recorded_on: machine,
    target: setup.target.info,
    drafter,
    settings: setup.settings,
    prompt: setup.prompt,
    prefill_seconds: prefill,
    rounds,
    autoregressive: plain,
    output: { token_ids: written, text: setup.target.tokenizer.decode(written), stopped_by: stoppedBy(setup, written) },
  };
}

function stoppedBy({ ends, settings }: RunSetup, written: number[]): "eos" | "length" | null {
  if (written.length && ends.has(written[written.length - 1])) return "eos";
  return written.length === settings.max_new_tokens ? "length" : null;
}

/** The tokens up to the first that ends a text. */
export function untilEnd(tokenIds: number[], ends: Set<number>) {
  const end = tokenIds.findIndex((id) => ends.has(id));
  return end < 0 ? tokenIds : tokenIds.slice(0, end + 1);
}
