/** What the visitor asks for: the controls, and the link that holds the same. */

import { element, find } from "../shared/dom.js";

/** @import { DecodeSettings } from "../shared/payloads.js" */
/** @import { RunRequest } from "../engine/run.js" */

/** @typedef {{ name: string, label: string, text: string }} Preset */

const OWN = "own";
const LONGEST = 4000; // characters of a prompt
/** What links call each control, as in the app's links. */
const NAMES = /** @type {const} */ (["target", "draft", "temperature", "tokens", "seed", "top_k", "top_p", "verification"]);

export class Form {
  /**
   * @param {HTMLFormElement} node
   * @param {{ presets: Preset[], models: string[], lookup: string, settings: DecodeSettings }} offer
   * @param {() => void} changed
   */
  constructor(node, { presets, models, lookup, settings }, changed) {
    this.node = node;
    this.presets = presets;
    this.settings = settings; // what no control asks for
    this.length = settings.draft_length; // the stage has its slider
    this._fill("preset", [...presets.map(({ name }) => name), OWN], (name) => presets.find((preset) => preset.name === name)?.label ?? "your own text");
    this._fill("target", models);
    this._fill("draft", [...models.filter((name) => name !== models[0]), lookup], (name) => (name === lookup ? "prompt lookup, no model" : name));
    this.set("prompt", presets[0].text);
    node.addEventListener("submit", (event) => event.preventDefault());
    node.addEventListener("input", () => this._show());
    node.addEventListener("change", ({ target }) => {
      if (/** @type {HTMLInputElement} */ (target).name === "preset") this._take();
      if (/** @type {HTMLInputElement} */ (target).name === "prompt") this.set("preset", presets.find(({ text }) => text === this.get("prompt"))?.name ?? OWN);
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

  /** @returns {RunRequest} */
  request() {
    const [tokens, seed, temperature, topK, topP] = ["tokens", "seed", "temperature", "top_k", "top_p"].map((name) => this._number(name));
    const verification = temperature && this.get("verification") === "block" ? "block" : "token";
    const sampled = { top_k: temperature && topK ? topK : null, top_p: temperature && topP < 1 ? topP : null };
    const settings = { ...this.settings, ...sampled, max_new_tokens: tokens, seed, temperature, verification: /** @type {"token" | "block"} */ (verification), draft_length: this.length };
    return { prompt: this.get("prompt").slice(0, LONGEST), target: this.get("target"), draft: this.get("draft"), settings };
  }

  /**
   * Show what a run asked for, of this page or of a file; a value that no control has is left out.
   * @param {RunRequest} request
   */
  show({ prompt, target, draft, settings }) {
    const { temperature, max_new_tokens, seed, top_k, top_p, verification, draft_length } = settings;
    this.length = draft_length;
    this.set("prompt", prompt);
    this.set("preset", this.presets.find(({ text }) => text === prompt)?.name ?? OWN);
    const values = { target, draft, temperature, tokens: max_new_tokens, seed, top_k: top_k ?? 0, top_p: top_p ?? 1, verification };
    for (const [name, value] of Object.entries(values)) this.set(name, String(value));
  }

  /** The controls as the fragment of an address. */
  link() {
    const values = new URLSearchParams(NAMES.map((name) => [name, this.get(name)]));
    values.set("gamma", String(this.length));
    const preset = this.get("preset");
    if (preset === OWN) values.set("prompt", this.get("prompt"));
    else values.set("preset", preset);
    return `#${values}`;
  }

  /**
   * @param {string} fragment
   * @returns {boolean} whether it asked for anything
   */
  open(fragment) {
    const values = new URLSearchParams(fragment.slice(1));
    for (const name of NAMES) this.set(name, values.get(name) ?? this.get(name));
    const length = Number(values.get("gamma"));
    if (length >= 1 && length <= 16) this.length = Math.round(length);
    const preset = this.presets.find(({ name }) => name === values.get("preset"));
    const prompt = preset?.text ?? values.get("prompt")?.slice(0, LONGEST);
    if (prompt) this.set("prompt", prompt);
    if (prompt) this.set("preset", preset?.name ?? OWN);
    return [...values].length > 0;
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
