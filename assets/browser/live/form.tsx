// What the visitor asks for: the controls, made from the table of settings, what their values may be, and the link that holds the same.

import { render } from "preact";
import { find } from "../shared/dom.js";
import { LANGUAGE } from "../shared/numbers.js";
import { say } from "./words.js";
import type { DecodeSettings } from "../dist/payloads.js";
import type { RunRequest } from "../engine/run.js";

export type Preset = { name: string, text: string };
export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const OWN = "own"; // as `OWN_TEXT` of specviz/data/prompts/workloads.py
const LONGEST = 4000; // characters of a prompt
const LONGEST_VALUE = 40; // characters of a link's value that are said
const MODELS = ["target", "draft"] as const;
const LOOKUP_IN_LINKS = "lookup";

export class Form {
  offered = this.made.rows.filter(({ rule }) => rule);
  instead = ""; // of what was asked for last and is not here: what new runs use
  asked;

  constructor(public node: HTMLFormElement, public made: { presets: Preset[], menus: Record<string, string[][]>, lookup: string, settings: DecodeSettings, rows: Row[] }, changed: () => void) {
    for (const [name, choices] of Object.entries(made.menus)) render(<Options of={choices} />, this._control(name));
    render(this.offered.map((row) => <Field row={row} />), find(node, ".settings"));
    render(this.offered.map(({ label, help }) => <><dt>{label}</dt><dd>{help}</dd></>), find(node, ".helps dl"));
    this.set("prompt", this.made.presets[0].text);
    this.asked = this._values(); // by what was run or opened last
    node.addEventListener("submit", (event) => event.preventDefault());
    node.addEventListener("input", () => this._show());
    const act = () => {
      if (this._values() === this.asked) return; // it runs already, or was taken back
      this.instead = ""; // the visitor has chosen
      changed();
    };
    let isPressed = false; // a press leaves the field that was typed in: a run that began then would move what is pressed away, and the click was lost
    const page = node.ownerDocument; // of a copy that nobody sees, it goes with the form
    for (const kind of ["pointerdown", "pointerup", "pointercancel"]) page.addEventListener(kind, () => (isPressed = kind === "pointerdown"), true);
    node.addEventListener("change", ({ target }) => {
      const { name } = target as Control;
      if (name === "lesson") return; // no setting
      const preset = this.made.presets.find((each) => each.name === this.get("preset"));
      if (name === "preset" && preset) this.set("prompt", preset.text);
      else if (name === "preset") this._control("prompt").focus();
      if (name === "prompt") this._name();
      if (isPressed) page.addEventListener("pointerup", () => setTimeout(act), { once: true }); // after its click
      else act();
    });
  }

  _values() {
    return String(new URLSearchParams((new FormData(this.node) as any)));
  }

  get(name: string) {
    return this._control(name).value;
  }

  /** `value`: of a link, which may hold anything: what no run can have changes nothing */
  set(name: string, value: string) {
    const control = this._control(name);
    const { value: before } = control;
    const isNumber = "min" in control;
    if (isNumber && !(value.trim() && Number(value) >= Number(control.min) && Number(value) <= Number(control.max || Infinity))) return;
    control.value = value;
    if (!control.value || !control.checkValidity()) control.value = before;
    this._show();
  }

  /** A number that no run can have becomes the nearest one that a run can have, and `instead` says so. */
  request(): RunRequest {
    const settled = this.offered.map((row) => {
      const control = this._control(row.link) as HTMLInputElement;
      const { value } = control;
      if (!value || !control.checkValidity()) control.value = nearest(control);
      return this._unlike(row, value);
    });
    this.instead = listed(settled.filter(Boolean)) || this.instead;
    const chosen = this.offered.map(({ name, link, shown, labels }) => {
      const value = this.get(link);
      const usual = Number(value) === shown; // what a control shows for the default may be another value, such as 0 for “not limited”
      return [name, labels ? value : usual ? this.made.settings[name as keyof DecodeSettings] : Number(value)];
    });
    const settings = { ...this.made.settings, ...Object.fromEntries(chosen) };
    this.asked = this._values();
    return { prompt: this.get("prompt").slice(0, LONGEST), target: this.get("target"), draft: this.get("draft"), settings };
  }

  /** A run's settings as those of an address. */
  linkOf({ prompt, target, draft, settings }: RunRequest) {
    const preset = this.made.presets.find(({ text }) => text === prompt);
    const values: Record<string, unknown> = { ...settings };
    const written = this.made.rows.map(({ name, link, shown }) => [link, String(values[name] ?? shown)]);
    return String(new URLSearchParams([["target", target], ["draft", draft], ...written, preset ? ["preset", preset.name] : ["prompt", prompt]]));
  }

  /**
   * Show what an address, a file or a lesson asks for. `instead` says what is not here; an older one is forgotten. Returns
   * whether it asks for a run
   */
  open(asked: string): boolean {
    const values = new URLSearchParams(asked);
    if (values.get("draft") === LOOKUP_IN_LINKS) values.set("draft", this.made.lookup);
    for (const name of [...MODELS, ...this.offered.map(({ link }) => link)]) if (values.has(name)) this.set(name, values.get(name) ?? "");
    const prompt = values.get("prompt") ?? this.made.presets.find(({ name }) => name === values.get("preset"))?.text;
    if (prompt) this.set("prompt", prompt.slice(0, LONGEST));
    this._name();
    const instead = [...MODELS.map((name) => ({ link: name, label: say(name) })), ...this.made.rows].map((row) => this._unlike(row, values.get(row.link)));
    if (prompt && prompt.length > LONGEST) instead.push(say("start_of_prompt"));
    this.instead = listed(instead.filter(Boolean));
    this.asked = this._values();
    return ["prompt", "preset", ...MODELS, ...this.made.rows.map(({ link }) => link)].some((name) => values.has(name));
  }

  _unlike({ link, label, labels, shown, rule }: Pick<Row, "link" | "label"> & Partial<Row>, asked: string | null) {
    const used = rule === "" ? String(shown) : this.get(link);
    if (asked === null || used === asked || (asked.trim() && Number(asked) === Number(used))) return "";
    const [here, there] = [used, asked].map((value) => labels?.[value] ?? value.slice(0, LONGEST_VALUE)).map(lowered);
    return say("in_place", { setting: lowered(label.split(" (")[0]), here, wanted: there || say("nothing") });
  }

  _name() {
    this.set("preset", this.made.presets.find(({ text }) => text === this.get("prompt"))?.name ?? OWN);
  }

  _show() {
    for (const output of this.node.querySelectorAll("output")) output.textContent = (output.previousElementSibling as HTMLInputElement).value;
  }

  _control(name: string): Control {
    return find(this.node, `[name="${name}"]`);
  }
}

// ---- the settings of this page

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

function Field({ row: { name, link, label, labels, shown, typed, offered: [min, max], whole } }: { row: Row }) {
  const number = <input type={typed ? "number" : "range"} name={link} min={min} max={max ?? ""} step={whole ? 1 : STEP} defaultValue={String(shown)} />;
  return (
    <label hidden={name === ON_STAGE}>
      {label}
      {labels ? <select name={link}><Options of={Object.entries(labels)} /></select> : typed ? number : <span>{number}<output /></span>}
    </label>
  );
}

/** `of`: value and label of each */
function Options({ of: choices }: { of: string[][] }) {
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

/** a number; an empty one has its default */
function nearest({ value, min, max, step, defaultValue }: HTMLInputElement) {
  if (!value) return defaultValue;
  const inside = Math.min(Math.max(Number(value), Number(min)), Number(max || Infinity));
  return String(Number((Math.round(inside / Number(step)) * Number(step)).toFixed(2)));
}

function lowered(text: string) {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function listed(parts: string[]) {
  return new Intl.ListFormat(LANGUAGE).format(parts);
}
