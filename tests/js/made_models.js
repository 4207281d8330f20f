// The bundled models in node.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { loadModel } from "../../assets/browser/engine/models.js";

const ASSETS = new URL("../../assets/", import.meta.url);
const json = (path) => JSON.parse(readFileSync(new URL(path, ASSETS), "utf-8"));

export function filesOf(name) {
  const [config, tokenizer] = ["config", "tokenizer"].map((file) => json(`models/${name}/${file}.json`));
  const weights = readFileSync(new URL(`models/${name}/model.safetensors`, ASSETS));
  const sha256 = createHash("sha256").update(weights).digest("hex");
  return { config, tokenizer, sha256, weights: weights.buffer.slice(weights.byteOffset, weights.byteOffset + weights.length) };
}

export const loaded = (name) => loadModel(name, filesOf(name), () => {});

/** The trace of the first screen, which PyTorch made. */
export const firstTrace = () => json("traces/first.json");

export const settingsOf = (changed = {}) => ({ ...firstTrace().settings, ...changed });
