// The sliders and menus of the lesson about load, and what they say.

import { element } from "../shared/dom.js";
import { counted, percent } from "../shared/numbers.js";
import { grouped } from "./words.js";

/** @import { RooflinePayload, Shown } from "../shared/payloads.js" */
/** @import { Setting, Speculation } from "./model.js" */

/** @typedef {Shown & Speculation} Chosen what the controls say */
/** @typedef {keyof typeof STOPS} Slid */

export const STOPS = {
  batch: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  context: [512, 2048, 8192, 32768, 131072],
  alpha: Array.from({ length: 21 }, (_, i) => i / 20),
  length: Array.from({ length: 10 }, (_, i) => i + 1),
  cost: Array.from({ length: 51 }, (_, i) => i / 100),
};
/** @type {Record<"load" | "model" | "draft", (Slid | "machine" | "model")[]>} */
const GROUPS = { load: ["batch", "context"], model: ["machine", "model"], draft: ["alpha", "length", "cost"] };

/**
 * Where the lesson begins: the first setting of its first question, with the draft of its answers.
 * @param {RooflinePayload} data
 * @returns {Chosen}
 */
export function firstChoice({ questions, draft }) {
  const shown = /** @type {Shown} */ (questions[0]?.shows[0]);
  return { ...shown, ...speculationOf(draft) };
}

/**
 * @param {RooflinePayload["draft"]} draft in per cent
 * @returns {Speculation}
 */
export function speculationOf({ acceptance, length, cost }) {
  return { alpha: acceptance / 100, length, cost: cost / 100 };
}

/**
 * The model's setting for what the controls say.
 * @param {Shown} chosen
 * @param {RooflinePayload} data
 * @returns {Setting}
 */
export function settingOf({ machine, model, batch, context }, { machines, models }) {
  const found = { machine: machines.find(({ short }) => short === machine), shape: models.find(({ name }) => name === model) };
  if (!found.machine || !found.shape) throw new Error(`There is no ${machine} or ${model}`);
  return { machine: found.machine, shape: found.shape, batch, context };
}

/**
 * A slider's value in words.
 * @param {Slid} name
 * @param {number} value
 * @param {RooflinePayload["labels"]} said
 */
export function valueOf(name, value, said) {
  if (name === "alpha") return percent(value);
  if (name === "cost") return `${value.toFixed(2)} ${said.steps}`;
  const [one, many] = name === "batch" ? [said.text, said.texts] : [said.token, said.tokens];
  return value === 1 ? counted(value, one) : `${grouped(value)} ${many}`;
}

/**
 * @param {RooflinePayload} data
 * @param {Chosen} chosen changed in place
 * @param {() => void} changed
 * @returns {{ node: HTMLElement, show: () => void }} `show` puts the controls where `chosen` says
 */
export function makeControls(data, chosen, changed) {
  const node = element("div", "controls");
  /** @type {(() => void)[]} */
  const shows = [];
  for (const [group, names] of Object.entries(GROUPS)) {
    const box = element("div", `group ${group}`);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", data.labels[group] ?? "");
    for (const name of names) {
      const made = name === "machine" || name === "model" ? makeMenu(name, data, chosen, changed) : makeSlider(name, data, chosen, changed);
      box.append(made.line);
      shows.push(made.show);
    }
    node.append(box);
  }
  return { node, show: () => shows.forEach((show) => show()) };
}

/**
 * @param {"machine" | "model"} name
 * @param {RooflinePayload} data
 * @param {Chosen} chosen
 * @param {() => void} changed
 */
function makeMenu(name, { labels, machines, models }, chosen, changed) {
  const menu = element("select");
  const options = name === "machine" ? machines.map((each) => new Option(each.name, each.short)) : models.map((each) => new Option(each.name));
  menu.append(...options);
  menu.addEventListener("change", () => {
    chosen[name] = menu.value;
    changed();
  });
  const line = element("label", "line menu");
  line.append(element("span", "of", labels[name]), menu);
  return { line, show: () => void (menu.value = chosen[name]) };
}

/**
 * @param {Slid} name
 * @param {RooflinePayload} data
 * @param {Chosen} chosen
 * @param {() => void} changed
 */
function makeSlider(name, { labels }, chosen, changed) {
  const stops = STOPS[name];
  const input = element("input");
  Object.assign(input, { type: "range", min: "0", max: String(stops.length - 1), step: "1", name });
  input.setAttribute("aria-label", labels[name] ?? ""); // without its value, which it says itself
  const output = element("span", "value"); // an <output> would take the label from the slider
  const show = () => {
    const at = stops.findIndex((stop) => stop >= chosen[name] - 1e-9);
    input.value = String(at);
    input.style.setProperty("--filled", `${(100 * at) / (stops.length - 1)}%`);
    output.textContent = valueOf(name, chosen[name], labels);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    chosen[name] = stops[Number(input.value)] ?? chosen[name];
    show();
    changed();
  });
  input.addEventListener("keydown", (event) => event.stopPropagation()); // arrows are the slider's own here
  const line = element("label", "line");
  line.append(element("span", "of", labels[name]), output, input);
  return { line, show };
}
