/** Where a run was made, for its trace. A browser does not say which processor it is. */

/** @import { Machine } from "../shared/payloads.js" */
/** @import { LoadedModel } from "./loaded_model.js" */

const NOT_USED = "not used";

/**
 * @param {Map<string, LoadedModel>} models
 * @returns {Machine}
 */
export function machineOf(models) {
  const [model] = models.values();
  return { machine: `a browser, WebAssembly with ${model?.llama.simd ?? "SIMD"}`, torch: NOT_USED, transformers: NOT_USED, threads: 1 };
}
