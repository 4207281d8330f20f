// Below the roof: the times of both passes as bars, what that means for one text and for all, and the map of speedups.

import { element } from "../shared/dom.js";
import { times } from "../shared/numbers.js";
import { BATCHES, CONTEXTS } from "./controls.js";
import { memoryNeeded, pass, speedup } from "./model.js";
import { LABELS, grouped, inMs, wordOf } from "./words.js";

/** @import { JudgedPayload } from "../shared/payloads.js" */
/** @import { Setting, Speculation, Work } from "./model.js" */
/** @import { Voice } from "./words.js" */

const TOKENS_A_THOUSAND = 1024; // 8192 tokens are written as 8k

/**
 * Both passes, each kind of work with the bar of its bytes and that of its arithmetic.
 * @param {Setting} setting
 * @param {number} checked tokens
 * @param {Voice} voice
 */
export function drawBars(setting, checked, voice) {
  const said = LABELS[voice];
  const passes = /** @type {const} */ ([1, checked]).map((tokens) => ({ tokens, made: pass(setting, tokens) }));
  const longest = Math.max(...passes.flatMap(({ made }) => [made.weights.seconds, made.caches.seconds]));
  const boxes = passes.map(({ tokens, made }, i) => {
    const box = element("div", "pass");
    const name = `${i ? said.check : said.plain}, ${said.tokens(tokens)} ${said.each}: `;
    const head = element("p", "head", name);
    head.append(element("strong", "", inMs(made.seconds)));
    box.append(head, rowOf(said.matrices, made.weights, longest, voice), rowOf(said.attention, made.caches, longest, voice));
    return box;
  });
  return [element("p", "title", said.bars), ...boxes, keyOf(voice)];
}

/**
 * @param {string} name
 * @param {Work} work
 * @param {number} longest
 * @param {Voice} voice
 */
function rowOf(name, { fetching, computing, seconds }, longest, voice) {
  const said = LABELS[voice];
  const row = element("div", "row");
  const bars = element("span", "bars");
  bars.append(barOf("fetching", fetching, longest, fetching >= computing), barOf("computing", computing, longest, computing > fetching));
  row.append(element("span", "of", name), bars, element("span", "ms", inMs(seconds)));
  row.title = `${said.fetching} ${inMs(fetching)}, ${said.computing} ${inMs(computing)}`;
  return row;
}

/**
 * @param {"fetching" | "computing"} kind
 * @param {number} seconds
 * @param {number} longest
 * @param {boolean} counts
 */
function barOf(kind, seconds, longest, counts) {
  const bar = element("i", `${kind}${counts ? " counts" : ""}`);
  bar.style.width = `${Math.max(0.5, (100 * seconds) / longest)}%`;
  return bar;
}

/** @param {Voice} voice */
function keyOf(voice) {
  const said = LABELS[voice];
  const key = element("p", "key-line");
  for (const kind of /** @type {const} */ (["fetching", "computing"])) {
    key.append(element("i", `swatch ${kind} counts`), element("span", "", said[kind]));
  }
  key.append(element("span", "", said.longer));
  return key;
}

/**
 * Latency and throughput, without and with drafts.
 * @param {Setting} setting
 * @param {Speculation} speculation
 * @param {Voice} voice
 */
export function drawSpeeds(setting, speculation, voice) {
  const said = LABELS[voice];
  const step = pass(setting, 1).seconds;
  const gain = speedup(setting, speculation);
  const rows = /** @type {const} */ ([
    [said.alone, step],
    [said.together, step / gain],
  ]);
  const table = element("table", "speeds");
  const head = element("tr");
  head.append(element("td"), ...[said.latency, said.throughput].map((name) => headOf(name, "col")));
  const body = rows.map(([name, seconds]) => {
    const row = element("tr");
    const all = `${grouped(setting.batch / seconds)} ${said.second}`;
    row.append(headOf(name, "row"), element("td", "", inMs(seconds)), element("td", "", all));
    return row;
  });
  table.append(element("caption", "", said.bound), head, ...body);
  return table;
}

/**
 * @param {string} text
 * @param {"col" | "row"} scope
 */
function headOf(text, scope) {
  const cell = element("th", "", text);
  cell.scope = scope;
  return cell;
}

/**
 * The speedup at every batch and context; the setting's own cell has a frame.
 * @param {Setting} setting
 * @param {Speculation} speculation
 * @param {JudgedPayload} judged
 * @param {Voice} voice
 */
export function drawMap(setting, speculation, judged, voice) {
  const said = LABELS[voice];
  const table = element("table", "map");
  table.append(element("caption", "", `${said.map}; ${said.too}`));
  const head = element("tr");
  head.append(element("td"), ...BATCHES.map((batch) => headOf(String(batch), "col")));
  table.append(head);
  for (const context of CONTEXTS) {
    const row = element("tr");
    row.append(headOf(shortly(context), "row"), ...BATCHES.map((batch) => cellOf({ ...setting, batch, context }, setting, speculation, judged)));
    table.append(row);
  }
  return table;
}

/** @param {number} tokens */
function shortly(tokens) {
  return tokens < TOKENS_A_THOUSAND ? String(tokens) : `${tokens / TOKENS_A_THOUSAND}k`;
}

/**
 * @param {Setting} there
 * @param {Setting} here
 * @param {Speculation} speculation
 * @param {JudgedPayload} judged
 */
function cellOf(there, here, speculation, judged) {
  const gain = speedup(there, speculation);
  const cell = element("td", wordOf(gain, judged), gain.toFixed(gain < 10 ? 2 : 1));
  cell.classList.toggle("too", tooLarge(there));
  const own = there.batch === here.batch && there.context === here.context;
  if (own) cell.setAttribute("aria-current", "true");
  cell.title = `${judged[wordOf(gain, judged)]}, ${times(gain)}`;
  return cell;
}

/** @param {Setting} setting */
export function tooLarge(setting) {
  return memoryNeeded(setting) > setting.machine.memory * 1e9;
}
