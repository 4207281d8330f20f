// The models and both decoders in a thread of their own, so that the page stays quick. A page sends:
//
//     { kind: "open", models: { name: ModelFiles } }     may come again, with more models or after a failure
//     { kind: "run", id, request: RunRequest }           takes the place of a run under way
//     { kind: "stop", id }
//     { kind: "ping" }                                   is answered with `alive`, also while a run is under way
//
// and is sent `loading` (model, bytes, of), `ready` (models), `trace` (id, the trace so far), `done` (id, trace, guesses)
// and `failed` (id where it is a run's, sentence).

import { machineOf, loadModel, type LoadedModel, type ModelFiles } from "./models.js";
import { PlainError, say } from "./words.js";
import { Run, type RunRequest } from "./run.js";

export type Message = { kind: "open", models: Record<string, ModelFiles> } | { kind: "run", id: number, request: RunRequest } | { kind: "stop", id: number } | { kind: "ping" };
export type Port = { postMessage(message: unknown): void, onmessage: ((event: MessageEvent) => void) | null };

const BETWEEN = 50; // milliseconds between two traces of a run
const WARM_UP = [1, 2, 5, 1, 2, 5, 1, 2, 5, 7, 7]; // tokens in a pass

export class Engine {
  _models: Map<string, LoadedModel> = new Map();
  _id = 0; // of the run under way

  constructor(public port: Port) {
    port.onmessage = ({ data }) => this.take(data);
  }

  async take(message: Message) {
    if (message.kind === "open") await this._open(message.models);
    if (message.kind === "run") await this._run(message.id, message.request);
    if (message.kind === "ping") this.port.postMessage({ kind: "alive" });
    if (message.kind === "stop" && message.id === this._id) this._id = 0;
  }

  async _open(models: Record<string, ModelFiles>) {
    try {
      for (const [name, files] of Object.entries(models)) {
        const progress = (bytes: number, of: number) => this.port.postMessage({ kind: "loading", model: name, bytes, of });
        const model = await loadModel(name, files, progress);
        const cache = model.llama.cache(); // the browser compiles the kernel once more while it is first used, and no run should be timed then
        for (const count of WARM_UP) model.llama.read(cache, new Array(count).fill(1));
        model.llama.release(cache);
        this._models.set(name, model);
      }
      this.port.postMessage({ kind: "ready", models: [...this._models.keys()] });
    } catch (error) {
      this.port.postMessage({ kind: "failed", sentence: sentenceOf(error) });
    }
  }

  async _run(id: number, request: RunRequest) {
    this._id = id;
    await hearMessages(); // a run under way ends, and gives its caches back
    if (this._id !== id) return;
    try {
      await this._decode(id, request);
    } catch (error) {
      this.port.postMessage({ kind: "failed", id, sentence: sentenceOf(error) });
    }
  }

  async _decode(id: number, request: RunRequest) {
    const run = new Run(request, this._models, machineOf(this._models));
    try {
      let sentAt = -Infinity;
      for (const _ of run.steps()) {
        if (run.rounds.length && performance.now() - sentAt >= BETWEEN) {
          this.port.postMessage({ kind: "trace", id, trace: run.trace() });
          sentAt = performance.now();
        }
        await hearMessages();
        if (this._id !== id) return;
      }
      this.port.postMessage({ kind: "done", id, trace: run.trace(), guesses: run.guesses() });
    } finally {
      run.close();
    }
  }
}

function sentenceOf(error: unknown) {
  if (error instanceof PlainError) return error.message;
  console.error(error);
  return say("went_wrong");
}

/** Let messages in that have come meanwhile; a timer would wait for milliseconds. */
function hearMessages() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(null);
  });
}
