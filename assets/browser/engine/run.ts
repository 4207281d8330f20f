/**
 * One run of both decoders in turns, as the trace that it has written so far. After each speculative round the target alone
 * writes as many tokens: whatever slows the machine for a moment then slows both, so their ratio hardly changes.
 *
 * The steps are those of `specviz/decoding/run_setup.py` and `speculative.py`.
 */

import { autoregressiveSteps, now, speculativeRounds, type RunSetup } from "./decoding.js";
import { ModelDrafter, PromptLookupDrafter, guessAlong, type Drafter } from "./drafters.js";
import { CachedModel, type LoadedModel } from "./models.js";
import { Recorder } from "./recording.js";
import { Random, makeSampler } from "./sampler.js";
import { makeRule } from "./verification.js";
import { PlainError, say } from "./words.js";
import type { DecodeSettings, Machine, Round, Trace } from "../dist/payloads.js";

export type RunRequest = { prompt: string, target: string, draft: string, settings: DecodeSettings };

const LOOKUP = ["prompt-lookup", "lookup"]; // the names of the draft that is no model
const SCHEMA = 2;

export class Run {
  rounds: Round[] = [];
  written: number[] = [];
  _drafter: Drafter;
  _setup;
  _promptIds;
  _model: CachedModel;
  _alone: CachedModel;
  _proposer;
  _decoding;
  _steps;
  _prefill = { target: 0, draft: 0 }; // seconds that the prompt took; what others do between two passes does not count
  _plain = { seconds_per_token: [] as number[], token_ids: [] as number[] };
  _created = `${new Date().toISOString().slice(0, 19)}+00:00`;

  /** Throws PlainError the pair or the prompt cannot be run */
  constructor({ prompt, target, draft, settings }: RunRequest, models: Map<string, LoadedModel>, public machine: Machine) {
    this._drafter = LOOKUP.includes(draft) ? new PromptLookupDrafter() : new ModelDrafter(loaded(models, draft));
    this._setup = setUp(loaded(models, target), this._drafter.loaded, prompt, settings);
    const { prompt: { token_ids: ids }, target: model } = this._setup;
    const [random, other] = [new Random(settings.seed), new Random(settings.seed)];
    const sampler = makeSampler(settings, random);
    this._promptIds = ids.slice(0, -1); // its last token is what the first pass reads
    [this._model, this._alone] = [new CachedModel(model), new CachedModel(model)]; // each decoder has its own cache
    this._proposer = this._drafter.begin(ids, sampler);
    const recorder = new Recorder(model.tokenizer, sampler);
    this._decoding = speculativeRounds(this._model, this._proposer, sampler, makeRule(settings, random), [...ids], this._setup, recorder);
    this._steps = autoregressiveSteps(this._alone, makeSampler(settings, other), [...ids], this._setup);
  }

  /**
   * Decode; yields after every pass over the prompt, round and plain step, so that the run can be stopped. The target alone
   * reads the prompt after the first round, so that this is seen sooner. Two sampled texts may differ in length: the longer
   * one goes on alone.
   */
  *steps() {
    const reading = this._alone.prefillSteps(this._promptIds);
    for (const emitted of this.speculation()) {
      yield;
      if (!emitted) continue;
      yield* reading;
      for (let count = 0; count < emitted && this._step(); count += 1) yield;
    }
    while (this._step()) yield;
  }

  /** The speculative half alone; yields after every pass over the prompt, and after every round how many tokens it wrote. */
  *speculation() {
    yield* this._read("target", this._model.prefillSteps(this._promptIds));
    yield* this._read("draft", this._proposer.readPrompt());
    for (const round of this._decoding) {
      const before = this.written.length;
      const accepted = round.drafted.filter(({ status }) => status === "accepted");
      for (const { id } of round.emitted.kind === "none" ? accepted : [...accepted, round.emitted]) this.written.push(id as number);
      this.rounds.push(round);
      yield this.written.length - before;
    }
  }

  *_read(model: "target" | "draft", steps: Generator<void>) {
    for (;;) {
      const began = now();
      const { done } = steps.next();
      this._prefill[model] += now() - began;
      if (done) return;
      yield 0;
    }
  }

  /** One step of the target alone; false where its text is over. */
  _step() {
    const { value, done } = this._steps.next();
    if (done) return false;
    this._plain.seconds_per_token.push(value.seconds);
    this._plain.token_ids.push(value.tokenId);
    return true;
  }

  trace(): Trace {
    const { target, settings, prompt, ends } = this._setup;
    const ended = ends.has(this.written.at(-1) ?? NaN);
    return {
      schema: SCHEMA,
      created: this._created,
      recorded_on: this.machine,
      target: target.info,
      drafter: this._drafter.info,
      settings,
      prompt,
      prefill_seconds: this._prefill,
      rounds: this.rounds,
      autoregressive: this._plain.token_ids.length ? { ...this._plain, alternating: true } : null,
      output: { token_ids: this.written, text: target.tokenizer.decode(this.written), stopped_by: ended ? "eos" : this.written.length === settings.max_new_tokens ? "length" : null },
    };
  }

  /** Of a greedy run that is over: what the draft would have guessed at each place; null for a sampled one. */
  guesses() {
    return this._setup.settings.temperature === 0 ? guessAlong(this._drafter, this._setup, this.written) : null;
  }

  /** Give the memory of the caches to the next run. */
  close() {
    for (const each of [this._model, this._proposer, this._alone]) each.close();
  }
}

function loaded(models: Map<string, LoadedModel>, name: string) {
  const model = models.get(name);
  if (!model) throw new PlainError(say("no_such_model", { name, names: [...models.keys()].join(", ") }));
  return model;
}

function setUp(target: LoadedModel, draft: LoadedModel | null, text: string, settings: DecodeSettings): RunSetup {
  if (!text) throw new PlainError(say("no_prompt"));
  const ids = target.tokenizer.encode(text);
  for (const loaded of [target, draft]) {
    if (!loaded || ids.length + settings.max_new_tokens <= loaded.context) continue;
    const { name, context } = loaded;
    throw new PlainError(say("too_long", { prompt: ids.length, new: settings.max_new_tokens, name, context }));
  }
  const prompt = { text, token_ids: ids, tokens: ids.map((id) => target.tokenizer.shown(id)) };
  return { target, settings, prompt, ends: settings.stop_at_eos ? target.ends : new Set() };
}
