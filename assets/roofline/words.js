// The figures of a setting as they are written, and the sentences around them, which the server sends. Pure.

import { percent } from "../shared/numbers.js";
import { breakEven, checkCost, memoryNeeded, pass, roundCost, speedup, tokensOfRound } from "./model.js";

/** @import { JudgedPayload, RooflinePayload } from "../shared/payloads.js" */
/** @import { Setting, Speculation } from "./model.js" */

const FREE = 1.05; // a check that takes less costs nearly nothing more
const MORE_EXPERTS = 1.2; // from here a check fetches clearly more weights than a plain pass
const MOSTLY = 0.5; // of a pass

/** @param {number} number with a comma between thousands */
export function grouped(number) {
  return Math.round(number).toLocaleString("en-US");
}

/** @param {string} word */
export function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/**
 * Milliseconds to two digits that count: 0.31 ms, 3.1 ms, 31 ms.
 * @param {number} seconds
 */
export function inMs(seconds) {
  const ms = 1000 * seconds;
  return `${ms < 1 ? ms.toFixed(2) : ms < 10 ? ms.toFixed(1) : grouped(ms)} ms`;
}

/**
 * A text with its figures.
 * @param {string} text
 * @param {Record<string, string>} figures
 */
export function filled(text, figures) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => figures[name] ?? whole).replaceAll(" %", "\u00a0%");
}

/**
 * Every figure that a sentence or an answer may name.
 * @param {Setting} setting
 * @param {Speculation} speculation
 * @returns {Record<string, string>}
 */
export function figuresOf(setting, speculation) {
  const tokens = speculation.length + 1;
  const [plain, check, gain] = [pass(setting, 1), pass(setting, tokens), speedup(setting, speculation)];
  return {
    batch: String(setting.batch),
    context: grouped(setting.context),
    model: setting.shape.name,
    tokens: String(tokens),
    all: grouped(setting.batch * tokens),
    check: checkCost(setting, tokens).toFixed(2),
    round: roundCost(setting, speculation).toFixed(2),
    written: tokensOfRound(speculation.alpha, speculation.length).toFixed(2),
    speedup: gain.toFixed(2),
    acceptance: percent(speculation.alpha),
    needed: percent(breakEven(setting, speculation)),
    memory: `${grouped(memoryNeeded(setting) / 1e9)} GB`,
    own: `${setting.machine.memory} GB`,
    experts: plain.touched.toFixed(1),
    more_experts: check.touched.toFixed(1),
    share: percent(plain.caches.seconds / plain.seconds),
    alone: inMs(plain.seconds),
    together: inMs(plain.seconds / gain),
    rate: grouped(setting.batch / plain.seconds),
    faster: grouped((setting.batch * gain) / plain.seconds),
  };
}

/**
 * The word of a speedup that no clock measured: its size decides.
 * @param {number} ratio
 * @param {JudgedPayload} judged
 * @returns {"helps" | "even" | "hurts"}
 */
export function wordOf(ratio, { neutral }) {
  return ratio > neutral ? "helps" : ratio < 1 / neutral ? "hurts" : "even";
}

/**
 * What a round costs and brings, and from which acceptance on it gains.
 * @param {Setting} setting
 * @param {Speculation} speculation
 * @param {RooflinePayload["sentences"]} said
 */
export function verdict(setting, speculation, said) {
  const needed = breakEven(setting, speculation);
  const gains = needed === null ? said.never : needed === 0 ? said.always : said.above;
  return filled(`${said.verdict} ${gains}`, figuresOf(setting, speculation));
}

/**
 * Why a check is cheap or expensive here.
 * @param {Setting} setting
 * @param {Speculation} speculation
 * @param {RooflinePayload["sentences"]} said
 */
export function reasons(setting, speculation, said) {
  const [plain, check] = [pass(setting, 1), pass(setting, speculation.length + 1)];
  const free = check.seconds < FREE * plain.seconds;
  const found = [
    free && said.free,
    check.touched > MORE_EXPERTS * plain.touched && said.experts,
    !free && check.weights.computing > check.weights.fetching && said.busy,
    plain.caches.seconds > MOSTLY * plain.seconds && said.caches,
  ];
  return filled(found.filter(Boolean).join(" "), figuresOf(setting, speculation));
}
