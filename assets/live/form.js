/** What the visitor asks for: the controls, and the link that holds the same. */

import { element, find } from "../shared/dom.js";

/** @import { DecodeSettings } from "../shared/payloads.js" */
/** @import { RunRequest } from "../engine/run.js" */

/** @typedef {{ name: string, label: string, text: string }} Preset */

const OWN = "own";
const LONGEST = 4000; // characters of a prompt
const LONGEST_VALUE = 40; // characters of a link's value that are said
/** Settings of the app that this page has no control for, by their names in links: what is done here. */
const FIXED = /** @type {const} */ ({ schedule: "fixed", draft_sampling: "sample", tree: "none", dtype: "exact" });
/** How a setting is called on screen, where its name in links is another. */
const SAID = /** @type {Record<string, string>} */ ({ tokens: "new tokens", top_k: "top-k", top_p: "top-p", gamma: "draft length", schedule: "draft-length schedule", draft_sampling: "draft sampling", dtype: "number format" });
const NUMBERS = ["tokens", "seed", "top_k", "top_p"]; // typed, so that they may be anything
/** What links call each control, as in the app's links. */
const NAMES = /** @type {const} */ (["target", "draft", "temperature", "tokens", "seed", "top_k", "top_p", "verification"]);

export class Form {
  /**
   * @param {HTMLFormElement} node
   * @param {{ presets: Preset[], models: Record<string, { parameters: number }>, lookup: string, settings: DecodeSettings }} offer
   * @param {() => void} changed
   */
  constructor(node, { presets, models, lookup, settings }, changed) {
    this.node = node;
    this.presets = presets;
    this.settings = settings; // what no control asks for
    this.length = settings.draft_length; // the stage has its slider
    this.instead = ""; // of what was asked for last and is not here: what new runs use
    this._fill("preset", [...presets.map(({ name }) => name), OWN], (name) => presets.find((preset) => preset.name === name)?.label ?? "your own text");
    const [target, ...drafts] = Object.keys(models);
    const sized = (/** @type {string} */ name) => `${name}, ${(models[name].parameters / 1e6).toFixed(1)} M`;
    this._fill("target", [target, ...drafts], sized);
    this._fill("draft", [...drafts, lookup], (name) => (name === lookup ? "prompt lookup, no model" : sized(name)));
    this.set("prompt", presets[0].text);
    node.addEventListener("submit", (event) => event.preventDefault());
    node.addEventListener("input", () => this._show());
    node.addEventListener("change", ({ target }) => {
      if (/** @type {HTMLInputElement} */ (target).name === "lesson") return; // no setting
      if (/** @type {HTMLInputElement} */ (target).name === "preset") this._take();
      if (/** @type {HTMLInputElement} */ (target).name === "prompt") this.set("preset", presets.find(({ text }) => text === this.get("prompt"))?.name ?? OWN);
      this.instead = ""; // the visitor has chosen
      changed();
    });
  }

  /** @param {string} name */
  get(name) {
    return this._control(name).value;
  }

  /**
   * @param {string} name
   * @param {string} value
   */
  set(name, value) {
    const control = this._control(name);
    const before = control.value;
    control.value = value;
    if (!control.value || !control.checkValidity()) control.value = before; // a link may name anything
    this._show();
  }

  /** A number that no run can have becomes the nearest one that a run can have, and `instead` says so. */
  settle() {
    const settled = NUMBERS.flatMap((name) => {
      const control = /** @type {HTMLInputElement} */ (this._control(name));
      const { value, validity } = control;
      if (value && validity.valid) return [];
      control.value = nearest(control);
      const typed = validity.badInput ? "what is no number" : value.slice(0, LONGEST_VALUE) || "nothing";
      return [`${SAID[name] ?? name} ${control.value} in place of ${typed}`];
    });
    if (settled.length) this.instead = listed(settled);
  }

  /** @returns {RunRequest} */
  request() {
    const [tokens, seed, temperature, topK, topP] = ["tokens", "seed", "temperature", "top_k", "top_p"].map((name) => this._number(name));
    const verification = temperature && this.get("verification") === "block" ? "block" : "token";
    const sampled = { top_k: temperature && topK ? topK : null, top_p: temperature && topP < 1 ? topP : null };
    const settings = { ...this.settings, ...sampled, max_new_tokens: tokens, seed, temperature, verification: /** @type {"token" | "block"} */ (verification), draft_length: this.length };
    return { prompt: this.get("prompt").slice(0, LONGEST), target: this.get("target"), draft: this.get("draft"), settings };
  }

  /**
   * A run's settings as those of an address.
   * @param {RunRequest} request
   */
  linkOf({ prompt, target, draft, settings }) {
    const { temperature, max_new_tokens, seed, top_k, top_p, verification, draft_length, draft_schedule, draft_sampling, tree } = settings;
    const preset = this.presets.find(({ text }) => text === prompt);
    const values = { target, draft, temperature, tokens: max_new_tokens, seed, top_k: top_k ?? 0, top_p: top_p ?? 1, verification, gamma: draft_length };
    const others = Object.entries({ schedule: draft_schedule, draft_sampling, tree: tree ?? FIXED.tree }).filter(([name, value]) => value !== FIXED[/** @type {keyof typeof FIXED} */ (name)]);
    const all = [...Object.entries(values), ...others, preset ? ["preset", preset.name] : ["prompt", prompt]];
    return String(new URLSearchParams(all.map(([name, value]) => [String(name), String(value)])));
  }

  /**
   * Show what an address, a file or a lesson asks for. `instead` says what is not here; an older one is forgotten.
   * @param {string} asked
   * @returns {boolean} whether it asks for a run
   */
  open(asked) {
    const values = new URLSearchParams(asked);
    for (const name of NAMES) this.set(name, values.get(name) ?? this.get(name));
    const length = Number(values.get("gamma"));
    if (length >= 1 && length <= 16) this.length = Math.round(length);
    const preset = this.presets.find(({ name }) => name === values.get("preset"));
    const prompt = values.get("prompt") ?? preset?.text;
    if (prompt) this.set("prompt", prompt.slice(0, LONGEST));
    if (prompt) this.set("preset", this.presets.find(({ text }) => text === prompt)?.name ?? OWN);
    const used = { ...Object.fromEntries(NAMES.map((name) => [name, this.get(name)])), gamma: this.length, ...FIXED };
    const unlike = Object.entries(used).filter(([name, value]) => values.has(name) && !same(String(value), values.get(name) ?? ""));
    const instead = unlike.map(([name, value]) => `${SAID[name] ?? name} ${value} in place of ${(values.get(name) ?? "").slice(0, LONGEST_VALUE)}`);
    if (prompt && prompt.length > LONGEST) instead.push("the start of the prompt in place of all of it");
    this.instead = listed(instead);
    return ["prompt", "preset", ...Object.keys(used)].some((name) => values.has(name));
  }

  _take() {
    const preset = this.presets.find(({ name }) => name === this.get("preset"));
    if (preset) this.set("prompt", preset.text);
    else this._control("prompt").focus();
  }

  _show() {
    find(this.node, "output").textContent = Number(this.get("temperature")).toFixed(2);
  }

  /** @param {string} name */
  _number(name) {
    const control = /** @type {HTMLInputElement} */ (this._control(name));
    return control.checkValidity() && control.value ? Number(control.value) : Number(control.defaultValue);
  }

  /**
   * @param {string} name
   * @returns {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement}
   */
  _control(name) {
    return find(this.node, `[name="${name}"]`);
  }

  /**
   * @param {string} name
   * @param {string[]} values
   */
  _fill(name, values, label = (/** @type {string} */ value) => value) {
    const options = values.map((value) => {
      const option = element("option", "", label(value));
      option.value = value;
      return option;
    });
    this._control(name).replaceChildren(...options);
  }
}

/** @param {string[]} parts */
function listed(parts) {
  return new Intl.ListFormat("en").format(parts);
}

/** @param {HTMLInputElement} control a number; an empty one has its default */
function nearest({ value, min, max, step, defaultValue }) {
  if (!value) return defaultValue;
  const [least, most, by] = [min, max, step || "1"].map(Number);
  const inside = Math.min(Math.max(Number(value), least), most);
  return String(Number((least + Math.round((inside - least) / by) * by).toFixed(2)));
}

/**
 * @param {string} one
 * @param {string} other
 */
function same(one, other) {
  return one === other || (one !== "" && other !== "" && Number(one) === Number(other));
}
