/** One run of both decoders, as the trace that it has written so far. */

import { takeTurns } from "./alternating.js";
import { AutoregressiveRun } from "./autoregressive.js";
import { ModelDrafter, PromptLookupDrafter, type Drafter } from "./drafters.js";
import { guessAlong } from "./guess_along.js";
import { PlainError } from "./plain_error.js";
import { setUpRun, traceOf } from "./run_setup.js";
import { SpeculativeRun } from "./speculative.js";
import { say } from "./words.js";
import type { DecodeSettings, Machine, Round } from "../dist/payloads.js";
import type { LoadedModel } from "./loaded_model.js";

export type RunRequest = { prompt: string, target: string, draft: string, settings: DecodeSettings };

const LOOKUP = ["prompt-lookup", "lookup"]; // the names of the draft that is no model

export class Run {
  _machine;
  _drafter;
  _setup;
  _speculative;
  _plain;
  _rounds: Round[] = [];
  _written: number[] = [];
  _steps = { seconds_per_token: [] as number[], token_ids: [] as number[] };

  /** Throws PlainError the pair or the prompt cannot be run */
  constructor({ prompt, target, draft, settings }: RunRequest, models: Map<string, LoadedModel>, machine: Machine) {
    this._machine = machine;
    this._drafter = LOOKUP.includes(draft) ? new PromptLookupDrafter() : new ModelDrafter(loaded(models, draft));
    this._setup = setUpRun(loaded(models, target), this._drafter.loaded, prompt, settings);
    this._speculative = new SpeculativeRun(this._setup, (this._drafter as Drafter));
    this._plain = new AutoregressiveRun(this._setup);
  }

  /** Decode; yields after every pass over the prompt, round and plain step, so that the run can be stopped. */
  *steps() {
    yield* this._speculative.readPrompt();
    for (const made of takeTurns(this._speculative, this._plain)) {
      if (made && "round" in made) this._keep(made.round);
      if (made && "step" in made) {
        this._steps.seconds_per_token.push(made.step.seconds);
        this._steps.token_ids.push(made.step.tokenId);
      }
      yield;
    }
  }

  /** How many rounds there are so far. */
  get rounds() {
    return this._rounds.length;
  }

  /** The run so far. */
  trace() {
    const plain = this._steps.token_ids.length ? { ...this._steps, alternating: true } : null;
    const { info } = this._drafter;
    const run = { machine: this._machine, drafter: info, prefill: this._speculative.prefill, rounds: this._rounds, plain, written: this._written };
    return traceOf(this._setup, run);
  }

  /** Of a greedy run that is over: what the draft would have guessed at each place; null for a sampled one. */
  guesses() {
    return this._setup.settings.temperature === 0 ? guessAlong(this._drafter as Drafter, this._setup, this._written) : null;
  }

  /** Give the memory of the caches to the next run. */
  close() {
    this._speculative.close();
    this._plain.close();
  }

  _keep(round: Round) {
    this._rounds.push(round);
    const accepted = round.drafted.filter(({ status }) => status === "accepted").map(({ id }) => id);
    const own = round.emitted.kind === "none" ? [] : [round.emitted.id];
    this._written.push(...([...accepted, ...own] as number[]));
  }
}

function loaded(models: Map<string, LoadedModel>, name: string) {
  const model = models.get(name);
  if (!model) throw new PlainError(say("no_such_model", { name, names: [...models.keys()].join(", ") }));
  return model;
}
