/** Where a run was made, for its trace. A browser does not say which processor it is. */
import type { Machine } from "../dist/payloads.js";
import type { LoadedModel } from "./models.js";

const NOT_USED = "not used";

export function machineOf(models: Map<string, LoadedModel>): Machine {
  const [model] = models.values();
  return { machine: `a browser, WebAssembly with ${model?.llama.simd ?? "SIMD"}`, torch: NOT_USED, transformers: NOT_USED, threads: 1 };
}
