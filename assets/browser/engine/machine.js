/** Where a run was made, for its trace: which browser, on what. A browser does not say which processor it is. */

/** @import { Machine } from "../shared/payloads.js" */
/** @import { LoadedModel } from "./loaded_model.js" */

// The first that fits: most name Chrome or Safari too. Only on Apple’s systems the version of Safari is a browser’s own.
const BROWSERS = [
  [/Edg(?:A|iOS)?\/(\d+)/, "Edge"],
  [/(?:OPR|OPT)\/(\d+)/, "Opera"],
  [/SamsungBrowser\/(\d+)/, "Samsung Internet"],
  [/(?:Firefox|FxiOS)\/(\d+)/, "Firefox"],
  [/(?:Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/(?:Mac OS|iPhone|iPad).*Version\/(\d+).*Safari/, "Safari"],
  [/AppleWebKit/, "a WebKit browser"],
];
const WEBKIT = /AppleWebKit(?!.*Chrome)/; // it says 4 or 8 cores, however many there are
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
  const cores = hardwareConcurrency && !WEBKIT.test(userAgent) ? [hardwareConcurrency === 1 ? "1 core" : `${hardwareConcurrency} cores`] : [];
  const parts = [browserOf(userAgent), `WebAssembly with ${model?.llama.simd ?? "SIMD"}`, ...cores, systemOf(userAgent)];
  return { machine: parts.join(", "), torch: NOT_USED, transformers: NOT_USED, threads: 1 };
}

/** @param {string} userAgent */
function browserOf(userAgent) {
  for (const [mark, name] of BROWSERS) {
    const found = userAgent.match(mark);
    if (found) return [name, ...found.slice(1)].join(" ");
  }
  return "a browser";
}

/** @param {string} userAgent */
function systemOf(userAgent) {
  return SYSTEMS.find(([mark]) => userAgent.match(mark))?.[1] ?? "another system";
}
