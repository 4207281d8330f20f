/** What the visitor asks for: the controls, made from the table of settings, and the link that holds the same. */

import { render } from "preact";
import { find } from "../shared/dom.js";
import { Field, Options, inWords, isWithin, listed, lowered, nearest, type Row } from "./settings.js";
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
  presets = this.made.presets;
  lookup = this.made.lookup;
  settings = this.made.settings;
  rows = this.made.rows;
  offered = this.rows.filter(({ rule }) => rule);
  instead = ""; // of what was asked for last and is not here: what new runs use
  asked;

  constructor(public node: HTMLFormElement, public made: { presets: Preset[], menus: Record<string, string[][]>, lookup: string, settings: DecodeSettings, rows: Row[] }, changed: () => void) {
    for (const [name, choices] of Object.entries(made.menus)) render(<Options of={choices} />, this._control(name));
    render(this.offered.map((row) => <Field row={row} />), find(node, ".settings"));
    render(this.offered.map(({ label, help }) => <><dt>{label}</dt><dd>{help}</dd></>), find(node, ".helps dl"));
    this.set("prompt", this.presets[0].text);
    this.asked = this._values(); // by what was run or opened last
    node.addEventListener("submit", (event) => event.preventDefault());
    node.addEventListener("input", () => this._show());
    this._whenChosen(() => {
      if (this._values() === this.asked) return; // it runs already, or was taken back
      this.instead = ""; // the visitor has chosen
      changed();
    });
  }

  /** A press leaves the field that was typed in. A run that began then would move what is pressed away: the click was lost. */
  _whenChosen(act: () => void) {
    let isPressed = false;
    const page = this.node.ownerDocument; // of a copy that nobody sees, it goes with the form
    for (const kind of ["pointerdown", "pointerup", "pointercancel"]) page.addEventListener(kind, () => (isPressed = kind === "pointerdown"), true);
    this.node.addEventListener("change", ({ target }) => {
      const { name } = target as Control;
      if (name === "lesson") return; // no setting
      if (name === "preset") this._take();
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
    if ("min" in control && !isWithin(control, value)) return;
    control.value = value;
    if (!control.value || !control.checkValidity()) control.value = before;
    this._show();
  }

  request(): RunRequest {
    this._settle();
    const chosen = this.offered.map((row) => [row.name, this._chosen(row)]);
    const settings = { ...this.settings, ...Object.fromEntries(chosen) };
    this.asked = this._values();
    return { prompt: this.get("prompt").slice(0, LONGEST), target: this.get("target"), draft: this.get("draft"), settings };
  }

  /** A run's settings as those of an address. */
  linkOf({ prompt, target, draft, settings }: RunRequest) {
    const preset = this.presets.find(({ text }) => text === prompt);
    const values: Record<string, unknown> = { ...settings };
    const written = this.rows.map(({ name, link, shown }) => [link, String(values[name] ?? shown)]);
    return String(new URLSearchParams([["target", target], ["draft", draft], ...written, preset ? ["preset", preset.name] : ["prompt", prompt]]));
  }

  /**
   * Show what an address, a file or a lesson asks for. `instead` says what is not here; an older one is forgotten. Returns
   * whether it asks for a run
   */
  open(asked: string): boolean {
    const values = new URLSearchParams(asked);
    if (values.get("draft") === LOOKUP_IN_LINKS) values.set("draft", this.lookup);
    for (const name of [...MODELS, ...this.offered.map(({ link }) => link)]) if (values.has(name)) this.set(name, values.get(name) ?? "");
    const prompt = values.get("prompt") ?? this.presets.find(({ name }) => name === values.get("preset"))?.text;
    if (prompt) this.set("prompt", prompt.slice(0, LONGEST));
    this._name();
    const instead = [...MODELS.map((name) => ({ link: name, label: say(name) })), ...this.rows].map((row) => this._unlike(row, values.get(row.link)));
    if (prompt && prompt.length > LONGEST) instead.push(say("start_of_prompt"));
    this.instead = listed(instead.filter(Boolean));
    this.asked = this._values();
    return ["prompt", "preset", ...MODELS, ...this.rows.map(({ link }) => link)].some((name) => values.has(name));
  }

  _unlike({ link, label, labels, shown, rule }: Pick<Row, "link" | "label"> & Partial<Row>, asked: string | null) {
    const used = rule === "" ? String(shown) : this.get(link);
    if (asked === null || used === asked || (asked.trim() && Number(asked) === Number(used))) return "";
    const [here, there] = [used, asked].map((value) => labels?.[value] ?? value.slice(0, LONGEST_VALUE)).map(lowered);
    return say("in_place", { setting: inWords(label), here, wanted: there || say("nothing") });
  }

  /** A number that no run can have becomes the nearest one that a run can have, and `instead` says so. */
  _settle() {
    const settled = this.offered.map((row) => {
      const control = this._control(row.link) as HTMLInputElement;
      const { value } = control;
      if (!value || !control.checkValidity()) control.value = nearest(control);
      return this._unlike(row, value);
    });
    this.instead = listed(settled.filter(Boolean)) || this.instead;
  }

  /** Its value in a run. What a control shows for the default may be another one, such as 0 for “not limited”. */
  _chosen({ name, link, shown, labels }: Row) {
    const value = this.get(link);
    if (labels) return value;
    return Number(value) === shown ? this.settings[name as keyof DecodeSettings] : Number(value);
  }

  _take() {
    const preset = this.presets.find(({ name }) => name === this.get("preset"));
    if (preset) this.set("prompt", preset.text);
    else this._control("prompt").focus();
  }

  _name() {
    this.set("preset", this.presets.find(({ text }) => text === this.get("prompt"))?.name ?? OWN);
  }

  _show() {
    for (const output of this.node.querySelectorAll("output")) output.textContent = (output.previousElementSibling as HTMLInputElement).value;
  }

  _control(name: string): Control {
    return find(this.node, `[name="${name}"]`);
  }
}
