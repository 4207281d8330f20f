/** The models in their thread, and the runs that it decodes: one at a time, and a new one takes the place of an older one. */

import { find } from "../shared/dom.js";
import { settingsOf, type Row } from "./settings.js";
import { say } from "./words.js";
import { bytesOf, startThread } from "./worker_thread.js";
import type { DecodeSettings, DraftGuesses, Trace } from "../dist/payloads.js";
import type { RunRequest } from "../engine/run.js";

export type Model = { config: object, weights: string | null, sha256: string }; // weights: their address, or null: in the page
export type Made = { models: Record<string, Model>, tokenizer: object, rows: Row[], settings: DecodeSettings };
export type Told = { loading: (model: string, bytes: number, of: number) => void, ready: () => void, failed: (sentence: string) => void };
export type Grows = (trace: Trace, guesses: DraftGuesses | null, over: boolean) => void; // the trace so far; guesses: of a greedy run that is over
export type Decoding = { id: number, request: RunRequest, grows: Grows, resolve: (trace: Trace) => void, reject: (error: Error) => void };

export class Decoder {
  ready = false;
  failed = false;
  thread: ReturnType<typeof startThread> | undefined;
  now: Decoding | null = null;
  count = 0; // of runs

  constructor(public made: Made, public told: Told) {}

  /** Start the thread, again where it has ended, and give it the models. */
  open() {
    this.thread?.end();
    this.ready = this.failed = false;
    const { models, tokenizer } = this.made;
    if (location.protocol === "file:" && Object.values(models).some(({ weights }) => weights)) return this.#fail(say("from_disk"));
    const script = find(document, "#engine").textContent ?? "";
    this.thread = startThread(script, (message) => this.#hear(message), () => this.#fail(say("engine_stopped")));
    const files = Object.entries(models).map(([name, { config, weights, sha256 }]) => {
      const given = weights ? new URL(weights, document.baseURI).href : bytesOf(find(document, `#weights-${name}`).textContent ?? "");
      return [name, { config, tokenizer, weights: given, sha256 }];
    });
    this.thread.post({ kind: "open", models: Object.fromEntries(files) });
  }

  /** Decode with both decoders, once the models are there. It fails with a sentence where it cannot run, or another run was asked for. */
  async decode({ prompt, target, draft, settings = {} }: Omit<RunRequest, "settings"> & { settings?: Partial<DecodeSettings> }, grows: Grows = () => {}): Promise<Trace> {
    const request = { prompt: String(prompt), target, draft, settings: settingsOf(settings, this.made) };
    this.stop();
    return new Promise((resolve, reject) => {
      this.now = { id: (this.count += 1), request, grows, resolve, reject };
      if (this.ready) this.#begin(this.now);
    });
  }

  /** A run under way is not waited for any more. */
  stop() {
    if (!this.now) return;
    this.thread?.post({ kind: "stop", id: this.now.id });
    this.now.reject(new Error(say("replaced")));
    this.now = null;
  }

  #begin({ id, request }: Decoding) {
    this.thread?.post({ kind: "run", id, request });
  }

  /** see assets/browser/engine/engine.ts */
  #hear({ kind, id, sentence, trace, guesses, model, bytes, of }: any) {
    if (kind === "loading") return this.told.loading(model, bytes, of);
    if (kind === "failed" && id === undefined) return this.#fail(sentence);
    const run = this.now;
    if (kind === "ready") {
      this.ready = true;
      this.told.ready();
      return run && this.#begin(run);
    }
    if (!run || id !== run.id) return; // of a run whose place another one has taken
    if (kind !== "trace") this.now = null;
    if (kind === "failed") return run.reject(new Error(sentence));
    run.grows(trace, guesses ?? null, kind === "done");
    if (kind === "done") run.resolve(trace);
  }

  /** `sentence`: why nothing can be decoded now; a run that waits begins when it is opened again */
  #fail(sentence: string) {
    [this.ready, this.failed] = [false, true];
    this.told.failed(sentence);
  }
}
