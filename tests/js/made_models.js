// The bundled models in node, and an engine with a port that keeps what it is sent.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { loadModel } from "../../assets/browser/engine/models.js";

const MODELS = new URL("../../assets/models/", import.meta.url);

/** @param {string} name */
export function filesOf(name) {
  const [config, tokenizer] = ["config.json", "tokenizer.json"].map((file) => JSON.parse(readFileSync(new URL(`${name}/${file}`, MODELS), "utf-8")));
  const weights = readFileSync(new URL(`${name}/model.safetensors`, MODELS));
  const sha256 = createHash("sha256").update(weights).digest("hex");
  return { config, tokenizer, sha256, weights: /** @type {ArrayBuffer} */ (weights.buffer.slice(weights.byteOffset, weights.byteOffset + weights.length)) };
}

/** @param {string} name */
export function loaded(name) {
  return loadModel(name, filesOf(name), () => {});
}

/** @returns {import("../../assets/browser/dist/payloads.js").DecodeSettings} */
export function settingsOf(changed = {}) {
  const first = JSON.parse(readFileSync(new URL("../traces/first.json", MODELS), "utf-8"));
  return { ...first.settings, ...changed };
}

/** The trace of the first screen, which PyTorch made. */
export function firstTrace() {
  return JSON.parse(readFileSync(new URL("../traces/first.json", MODELS), "utf-8"));
}
