// The models in their thread, and the runs that it decodes: one at a time, and a new one takes the place of an older one.

import { find } from "../shared/dom.js";
import { bytesOf } from "../shared/bytes.js";
import { settingsOf, type Row } from "./form.js";
import { say } from "./words.js";
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
      const given = weights ? new URL(weights, document.baseURI).href : bytesOf(find(document, `#weights-${name}`).textContent ?? "").buffer;
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

// ---- the thread, from the text of its script: a page from disk may load no other file

const EVERY = 5000; // ms between two questions whether it is still there
const UNANSWERED = 4; // questions after which it is not: a browser tells nobody when it has ended a thread

/** `died`: it failed, or was ended by somebody else */
export function startThread(script: string, heard: (message: any) => void, died: () => void) {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const thread = new Worker(address);
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered === UNANSWERED) return fail();
    unanswered += 1;
    thread.postMessage({ kind: "ping" });
  }, EVERY);
  const end = () => {
    clearInterval(timer);
    URL.revokeObjectURL(address);
    thread.terminate();
  };
  const fail = () => {
    end();
    died();
  };
  thread.onmessage = ({ data }) => {
    unanswered = 0;
    if (data.kind !== "alive") heard(data);
  };
  thread.onerror = (event) => {
    event.preventDefault();
    fail();
  };
  return { post: (message: unknown) => thread.postMessage(message), end };
}


// ---- how often a growing run is drawn: after a drawing, three times as long is left to decoding

const REST = 3;

export class Pace {
  _rested = 0; // when the next drawing may begin

  constructor(public now = () => performance.now()) {}

  /** A new run: its first drawing waits for nothing. */
  begin() {
    this._rested = 0;
  }

  /** `last`: of the run: it is always drawn */
  take(last: boolean, draw: () => void) {
    const began = this.now();
    if (began < this._rested && !last) return; // a later trace has all of this one
    draw();
    this._rested = this.now() + REST * (this.now() - began);
  }
}
