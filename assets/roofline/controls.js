// The sliders and menus of the lesson about load, and what they say.

import { element } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { LABELS } from "./words.js";

/** @import { PublishedMachine, RooflinePayload, Shape, Shown } from "../shared/payloads.js" */
/** @import { Setting, Speculation } from "./model.js" */
/** @import { Voice } from "./words.js" */

/**
 * @typedef {object} Chosen what the controls say
 * @property {string} machine
 * @property {string} model
 * @property {number} batch
 * @property {number} context
 * @property {number} experts
 * @property {number} active
 * @property {number} alpha
 * @property {number} length
 * @property {number} cost
 */

/** @typedef {Exclude<keyof Chosen, "machine" | "model">} Slid */

export const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
export const CONTEXTS = [512, 2048, 8192, 32768, 131072];
/** @type {Record<Slid, number[]>} */
export const STOPS = {
  batch: BATCHES,
  context: CONTEXTS,
  experts: [1, 2, 4, 8, 16, 32, 64, 128],
  active: [1, 2, 4, 8],
  alpha: Array.from({ length: 21 }, (_, i) => i / 20),
  length: Array.from({ length: 10 }, (_, i) => i + 1),
  cost: Array.from({ length: 51 }, (_, i) => i / 100),
};
/** @type {["load" | "model" | "draft", Slid[]][]} */
const GROUPS = [
  ["load", ["batch", "context"]],
  ["model", ["experts", "active"]],
  ["draft", ["alpha", "length", "cost"]],
];

/**
 * Where the lesson begins: the first setting of its first question, with the draft of its answers.
 * @param {RooflinePayload} data
 * @returns {Chosen}
 */
export function firstChoice({ questions, models, draft }) {
  const shown = /** @type {Shown} */ (questions[0]?.shows[0]);
  return chosenOf(shown, models, { alpha: draft.acceptance / 100, length: draft.length, cost: draft.cost / 100 });
}

/**
 * What the controls say for a setting of an answer.
 * @param {Shown} shown
 * @param {Shape[]} models
 * @param {Speculation} speculation
 * @returns {Chosen}
 */
export function chosenOf({ machine, model, batch, context }, models, { alpha, length, cost }) {
  const { experts, active } = named(models, "name", model);
  return { machine, model, batch, context, experts, active, alpha, length, cost };
}

/**
 * @template {PublishedMachine | Shape} Kind
 * @param {Kind[]} all
 * @param {keyof Kind} key
 * @param {string} value
 * @returns {Kind}
 */
function named(all, key, value) {
  const found = all.find((one) => one[key] === value) ?? all[0];
  if (!found) throw new Error(`There is no ${value}`);
  return found;
}

/**
 * The model's setting for what the controls say. No more experts can be active than there are.
 * @param {Chosen} chosen
 * @param {RooflinePayload} data
 * @returns {Setting}
 */
export function settingOf({ machine, model, batch, context, experts, active }, { machines, models }) {
  const shape = { ...named(models, "name", model), experts, active: Math.min(active, experts) };
  return { machine: named(machines, "short", machine), shape, batch, context };
}

/**
 * A slider's value in words.
 * @param {Slid} name
 * @param {Chosen} chosen
 * @param {Voice} voice
 */
export function valueOf(name, chosen, voice) {
  const said = LABELS[voice];
  const value = chosen[name];
  if (name === "batch") return said.texts(value);
  if (name === "context" || name === "length") return said.tokens(value);
  if (name === "alpha") return percent(value);
  if (name === "cost") return said.steps(value.toFixed(2));
  if (name === "experts") return value === 1 ? said.dense : String(value);
  return String(Math.min(value, chosen.experts));
}

export class Controls {
  /**
   * @param {RooflinePayload} data
   * @param {Chosen} chosen changed in place
   * @param {() => void} changed
   */
  constructor(data, chosen, changed) {
    this.data = data;
    this.chosen = chosen;
    this.changed = changed;
    this.node = element("div", "controls");
    /** @type {Map<Slid, { input: HTMLInputElement, output: HTMLElement }>} */
    this.sliders = new Map();
    /** @type {Map<"machine" | "model", HTMLSelectElement>} */
    this.menus = new Map();
    this.#build();
  }

  #build() {
    const said = LABELS[this.data.words];
    for (const [group, names] of GROUPS) {
      const box = element("div", `group ${group}`);
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", group === "model" ? `${said.machine}, ${said.model}` : said[group]);
      if (group === "model") box.append(...this.#menus());
      box.append(...names.map((name) => this.#slider(name, said[name])));
      this.node.append(box);
    }
    this.show();
  }

  #menus() {
    const said = LABELS[this.data.words];
    const machines = this.data.machines.map(({ name, short }) => /** @type {const} */ ([short, name]));
    const models = this.data.models.map(({ name }) => /** @type {const} */ ([name, name]));
    return [this.#menu("machine", said.machine, machines), this.#menu("model", said.model, models)];
  }

  /**
   * @param {"machine" | "model"} name
   * @param {string} title
   * @param {(readonly [string, string])[]} options value and text
   */
  #menu(name, title, options) {
    const menu = element("select");
    menu.append(...options.map(([value, text]) => new Option(text, value)));
    menu.addEventListener("change", () => {
      this.chosen[name] = menu.value;
      if (name === "model") this.#publishedExperts();
      this.show();
      this.changed();
    });
    this.menus.set(name, menu);
    const line = element("label", "line menu");
    line.append(element("span", "of", title), menu);
    return line;
  }

  /** Another model begins with as many experts as it has. */
  #publishedExperts() {
    const { experts, active } = named(this.data.models, "name", this.chosen.model);
    Object.assign(this.chosen, { experts, active });
  }

  /**
   * @param {Slid} name
   * @param {string} title
   */
  #slider(name, title) {
    const stops = STOPS[name];
    const input = element("input");
    Object.assign(input, { type: "range", min: "0", max: String(stops.length - 1), step: "1", name });
    input.setAttribute("aria-label", title); // without its value, which it says itself
    const output = element("span", "value"); // an <output> would take the label from the slider
    input.addEventListener("input", () => {
      this.chosen[name] = stops[Number(input.value)] ?? this.chosen[name];
      this.show();
      this.changed();
    });
    input.addEventListener("keydown", (event) => event.stopPropagation()); // arrows are the slider's own here
    this.sliders.set(name, { input, output });
    const line = element("label", "line");
    line.append(element("span", "of", title), output, input);
    return line;
  }

  /**
   * What the model's own number of experts is, where the slider says another one.
   * @param {Slid} name
   */
  #published(name) {
    if (name !== "experts" && name !== "active") return "";
    const own = named(this.data.models, "name", this.chosen.model)[name];
    return own === this.chosen[name] ? "" : ` (${LABELS[this.data.words].published} ${own})`;
  }

  /** The controls as `chosen` says. */
  show() {
    for (const [name, menu] of this.menus) menu.value = this.chosen[name];
    for (const [name, { input, output }] of this.sliders) {
      const stops = STOPS[name];
      const at = stops.indexOf(stops.reduce((best, stop) => (distance(stop, this.chosen[name]) < distance(best, this.chosen[name]) ? stop : best)));
      input.value = String(at);
      input.style.setProperty("--filled", `${(100 * at) / (stops.length - 1)}%`);
      const value = valueOf(name, this.chosen, this.data.words) + this.#published(name);
      output.textContent = value;
      input.setAttribute("aria-valuetext", value);
    }
    const active = this.sliders.get("active")?.input;
    if (active) active.disabled = this.chosen.experts === 1;
  }
}

/**
 * @param {number} one
 * @param {number} other
 */
function distance(one, other) {
  return Math.abs(one - other);
}
