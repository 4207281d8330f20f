/** The settings of this page, from the table of the app: their controls, and what their values may be. */

import { LANGUAGE } from "../shared/localize.js";
import { say } from "./words.js";
import type { DecodeSettings } from "../dist/payloads.js";

/** A row of specviz/core/settings.py. */
export interface Row {
  name: string; // in traces
  link: string; // its name in links and of its control
  label: string;
  help: string;
  shown: string | number; // the default, as links and controls hold it
  least: number | null;
  most: number | null; // null: as many as you like
  above: boolean; // `least` itself is too little
  whole: boolean;
  offered: [number, number | null]; // by its control
  typed: boolean; // a field for a number instead of a slider
  labels: Record<string, string> | null; // of its choices
  rule: string; // what a value must be, in words; empty: every run of this page has the default
}

const ON_STAGE = "draft_length"; // its slider is there
const STEP = 0.01; // of a number that is not whole

export function Field({ row: { name, link, label, labels, shown, typed, offered: [min, max], whole } }: { row: Row }) {
  const number = <input type={typed ? "number" : "range"} name={link} min={min} max={max ?? ""} step={whole ? 1 : STEP} defaultValue={String(shown)} />;
  return (
    <label hidden={name === ON_STAGE}>
      {label}
      {labels ? <select name={link}><Options of={Object.entries(labels)} /></select> : typed ? number : <span>{number}<output /></span>}
    </label>
  );
}

/** `of`: value and label of each */
export function Options({ of: choices }: { of: string[][] }) {
  return <>{choices.map(([value, label]) => <option value={value}>{label}</option>)}</>;
}

/**
 * The settings of a run; what is not asked for has its default. `asked`: of somebody’s own script. Throws Error there is no
 * such setting, or no run of this page can have that value
 */
export function settingsOf(asked: Partial<DecodeSettings>, { rows, settings }: { rows: Row[], settings: DecodeSettings }): DecodeSettings {
  const usual: Record<string, unknown> = { ...settings };
  for (const [name, value] of Object.entries(asked)) {
    if (!(name in usual)) throw new Error(say("no_setting", { name, names: listed(Object.keys(usual)) }));
    const row = rows.find((each) => each.name === name);
    const can = row ? row.rule && isAllowed(row, value) : typeof value === typeof usual[name];
    const rule = row ? row.rule || say("only_here", { value: String(usual[name]) }) : say("true_or_false");
    if (value !== usual[name] && !can) throw new Error(say("wrong_value", { name, rule, value: String(value) }));
  }
  return { ...settings, ...asked };
}

function isAllowed({ labels, least, most, above, whole }: Row, value: unknown) {
  if (labels) return typeof value === "string" && value in labels;
  if (typeof value !== "number" || !(whole ? Number.isSafeInteger(value) : Number.isFinite(value))) return false;
  return value >= Number(least) && value <= (most ?? Infinity) && !(above && value === least);
}

/** a number */
export function isWithin({ min, max }: HTMLInputElement, text: string) {
  return text.trim() !== "" && Number(text) >= Number(min) && Number(text) <= Number(max || Infinity);
}

/** a number; an empty one has its default */
export function nearest({ value, min, max, step, defaultValue }: HTMLInputElement) {
  if (!value) return defaultValue;
  const inside = Math.min(Math.max(Number(value), Number(min)), Number(max || Infinity));
  return String(Number((Math.round(inside / Number(step)) * Number(step)).toFixed(2)));
}

/** A label as it stands in a sentence: “top-k” for “Top-k (0 keeps every token)”. */
export function inWords(label: string) {
  return lowered(label.split(" (")[0]);
}

export function lowered(text: string) {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

export function listed(parts: string[]) {
  return new Intl.ListFormat(LANGUAGE).format(parts);
}
