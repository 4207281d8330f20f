// What the engine of the browser makes in node, for tests in Python: JSON in, JSON out.
//
// In: { texts, passes: [[model, ids]], runs: [RunRequest], draws: [[RunRequest, count]] }. Out: { ids of each text, logits of
// each pass, traces, pairs: of each draw the first two tokens with the seeds 0, 1, 2, ... }.

import { readFileSync } from "node:fs";
import { Run } from "../../assets/browser/engine/run.js";
import { loaded } from "./made_models.js";

const { texts, passes, runs, draws } = JSON.parse(readFileSync(0, "utf-8"));
const models = new Map();
for (const name of ["wren-base", "wren-small", "wren-mini", "wren-nano"]) models.set(name, await loaded(name));

const remembered = new Map(draws.length ? [...models].map(([name, model]) => [name, remembering(model)]) : []);
const machine = { machine: "node", torch: "not used", transformers: "not used", threads: 1 };

function decoded(request) {
  const run = new Run(request, models, machine);
  for (const _ of run.steps());
  run.close();
  return run.trace();
}

function logits(name, ids) {
  const { llama } = models.get(name);
  const cache = llama.cache();
  const rows = llama.read(cache, ids).map((row) => [...row]);
  llama.release(cache);
  return rows;
}

/** A model that remembers what it has read: a pass gives the same bits however the text before it was read. */
function remembering(loaded) {
  const { llama } = loaded;
  const [own, rows] = [llama.cache(), new Map()];
  let inside = []; // what the model's own cache holds
  const read = (cache, ids) => {
    cache.ids = [...cache.ids.slice(0, cache.length), ...ids];
    const keys = ids.map((_, i) => cache.ids.slice(0, cache.length + i + 1).join());
    cache.length = cache.ids.length;
    if (keys.some((key) => !rows.has(key))) {
      const shared = [...cache.ids.slice(0, -ids.length), -1].findIndex((id, i) => id !== inside[i]);
      own.length = shared;
      inside = [...cache.ids];
      llama.read(own, inside.slice(shared)).slice(-ids.length).forEach((row, i) => rows.set(keys[i], row));
    }
    return keys.map((key) => rows.get(key));
  };
  return { ...loaded, llama: { cache: () => ({ ids: [], length: 0 }), release: () => {}, read } };
}

/** The first two tokens that speculation writes, without the target's own run beside it. */
function pair(request, seed) {
  const run = new Run({ ...request, settings: { ...request.settings, seed } }, remembered, machine);
  for (const _ of run.speculation());
  run.close();
  return run.written.slice(0, 2);
}

const made = {
  ids: texts.map((text) => models.get("wren-base").tokenizer.encode(text)),
  logits: passes.map(([name, ids]) => logits(name, ids)),
  traces: runs.map(decoded),
  pairs: draws.map(([request, count]) => Array.from({ length: count }, (_, seed) => pair(request, seed))),
};
process.stdout.write(JSON.stringify(made));
