/** Where a run was made, for its trace: which browser, on what. A browser does not say which processor it is. */

/** @import { Machine } from "../shared/payloads.js" */
/** @import { LoadedModel } from "./loaded_model.js" */

// The first that fits: Edge and Opera name Chrome too, and Chrome names Safari.
const BROWSERS = [
  [/Edg\/(\d+)/, "Edge"],
  [/OPR\/(\d+)/, "Opera"],
  [/Firefox\/(\d+)/, "Firefox"],
  [/Chrome\/(\d+)/, "Chrome"],
  [/Version\/(\d+).*Safari/, "Safari"],
];
const SYSTEMS = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];
const NOT_USED = "not used";

/**
 * @param {Map<string, LoadedModel>} models
 * @returns {Machine}
 */
export function machineOf(models) {
  const { userAgent = "", hardwareConcurrency = 0 } = globalThis.navigator ?? {};
  const [model] = models.values();
  const parts = [browserOf(userAgent), `WebAssembly with ${model?.llama.simd ?? "SIMD"}`, `${hardwareConcurrency} cores`, systemOf(userAgent)];
  return { machine: parts.join(", "), torch: NOT_USED, transformers: NOT_USED, threads: 1 };
}

/** @param {string} userAgent */
function browserOf(userAgent) {
  for (const [mark, name] of BROWSERS) {
    const found = userAgent.match(mark);
    if (found) return `${name} ${found[1]}`;
  }
  return "a browser";
}

/** @param {string} userAgent */
function systemOf(userAgent) {
  return SYSTEMS.find(([mark]) => userAgent.match(mark))?.[1] ?? "another system";
}
