/** The settings of this page, from the table of the app: their controls, and what their values may be. */

import { element } from "../shared/dom.js";
import { LANGUAGE } from "../shared/localize.js";
import { say } from "./words.js";

/** @import { DecodeSettings } from "../shared/payloads.js" */

/**
 * A row of specviz/core/settings.py.
 * @typedef {object} Row
 * @property {string} name in traces
 * @property {string} link its name in links and of its control
 * @property {string} label
 * @property {string} help
 * @property {string | number} shown the default, as links and controls hold it
 * @property {number | null} least
 * @property {number | null} most null: as many as you like
 * @property {boolean} above `least` itself is too little
 * @property {boolean} whole
 * @property {[number, number | null]} offered by its control
 * @property {boolean} typed a field for a number instead of a slider
 * @property {Record<string, string> | null} labels of its choices
 * @property {string} rule what a value must be, in words; empty: every run of this page has the default
 */

const ON_STAGE = "draft_length"; // its slider is there
const STEP = 0.01; // of a number that is not whole

/** @param {Row} row */
export function fieldOf(row) {
  const field = element("label", "", row.label);
  field.hidden = row.name === ON_STAGE;
  if (row.labels) {
    const menu = element("select");
    menu.name = row.link;
    menu.append(...Object.entries(row.labels).map(optionOf));
    field.append(menu);
  } else field.append(numberOf(row));
  return field;
}

/** @param {Row} row */
function numberOf({ link, shown, typed, offered: [min, max], whole }) {
  const control = element("input");
  Object.assign(control, { type: typed ? "number" : "range", name: link, min, max: max ?? "", step: whole ? 1 : STEP, defaultValue: shown });
  if (typed) return control;
  const both = element("span");
  both.append(control, element("output"));
  return both;
}

/** @param {string[]} choice value and label */
export function optionOf([value, label]) {
  const option = element("option", "", label);
  option.value = value;
  return option;
}

/**
 * The settings of a run; what is not asked for has its default.
 * @param {Partial<DecodeSettings>} asked of somebody’s own script
 * @param {{ rows: Row[], settings: DecodeSettings }} made
 * @returns {DecodeSettings}
 * @throws {Error} there is no such setting, or no run of this page can have that value
 */
export function settingsOf(asked, { rows, settings }) {
  /** @type {Record<string, unknown>} */
  const usual = { ...settings };
  for (const [name, value] of Object.entries(asked)) {
    if (!(name in usual)) throw new Error(say("no_setting", { name, names: listed(Object.keys(usual)) }));
    const row = rows.find((each) => each.name === name);
    const can = row ? row.rule && isAllowed(row, value) : typeof value === typeof usual[name];
    const rule = row ? row.rule || say("only_here", { value: String(usual[name]) }) : say("true_or_false");
    if (value !== usual[name] && !can) throw new Error(say("wrong_value", { name, rule, value: String(value) }));
  }
  return { ...settings, ...asked };
}

/**
 * @param {Row} row
 * @param {unknown} value
 */
function isAllowed({ labels, least, most, above, whole }, value) {
  if (labels) return typeof value === "string" && value in labels;
  if (typeof value !== "number" || !(whole ? Number.isSafeInteger(value) : Number.isFinite(value))) return false;
  return value >= Number(least) && value <= (most ?? Infinity) && !(above && value === least);
}

/**
 * @param {HTMLInputElement} control a number
 * @param {string} text
 */
export function isWithin({ min, max }, text) {
  return text.trim() !== "" && Number(text) >= Number(min) && Number(text) <= Number(max || Infinity);
}

/** @param {HTMLInputElement} control a number; an empty one has its default */
export function nearest({ value, min, max, step, defaultValue }) {
  if (!value) return defaultValue;
  const inside = Math.min(Math.max(Number(value), Number(min)), Number(max || Infinity));
  return String(Number((Math.round(inside / Number(step)) * Number(step)).toFixed(2)));
}

/**
 * A label as it stands in a sentence: “top-k” for “Top-k (0 keeps every token)”.
 * @param {string} label
 */
export function inWords(label) {
  return lowered(label.split(" (")[0]);
}

/** @param {string} text */
export function lowered(text) {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** @param {string[]} parts */
export function listed(parts) {
  return new Intl.ListFormat(LANGUAGE).format(parts);
}
