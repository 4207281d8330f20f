// What the engine of the browser makes in node, for tests in Python: JSON in, JSON out.
//
// In: { texts, passes: [[model, ids]], runs: [RunRequest] }. Out: { ids of each text, logits of each pass, traces }.

import { readFileSync } from "node:fs";
import { Run } from "../../assets/engine/run.js";
import { loaded } from "./made_models.js";

const { texts, passes, runs } = JSON.parse(readFileSync(0, "utf-8"));
const models = new Map();
for (const name of ["wren-base", "wren-small", "wren-mini", "wren-nano"]) models.set(name, await loaded(name));
const machine = { machine: "node", torch: "not used", transformers: "not used", threads: 1 };

/** @param {import("../../assets/engine/run.js").RunRequest} request */
function decoded(request) {
  const run = new Run(request, models, machine);
  for (const _ of run.steps());
  run.close();
  return run.trace();
}

/**
 * @param {string} name
 * @param {number[]} ids
 */
function logits(name, ids) {
  const { llama } = models.get(name);
  const cache = llama.cache();
  const rows = llama.read(cache, ids).map((/** @type {Float32Array} */ row) => [...row]);
  llama.release(cache);
  return rows;
}

const made = {
  ids: texts.map((/** @type {string} */ text) => models.get("wren-base").tokenizer.encode(text)),
  logits: passes.map((/** @type {[string, number[]]} */ [name, ids]) => logits(name, ids)),
  traces: runs.map(decoded),
};
process.stdout.write(JSON.stringify(made));
