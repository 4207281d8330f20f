// The lesson about latency and throughput: sliders, the verdict, the roof, the times of a pass, three questions, a map.
// Everything that is drawn follows from published figures and the sliders: model.js.

import { element, find, prefersReducedMotion } from "../shared/dom.js";
import { mount } from "../shared/mounting.js";
import { times } from "../shared/numbers.js";
import { svg } from "../shared/svg.js";
import { applyScheme } from "../shared/theme.js";
import { Controls, chosenOf, firstChoice, settingOf } from "./controls.js";
import { checkCost, memoryNeeded, pass, speedup } from "./model.js";
import { drawRoof, mark, roofInWords } from "./roof.js";
import { drawBars, drawMap, drawSpeeds, tooLarge } from "./tables.js";
import { LABELS, filled, grouped, headline, inGb, reasons, verdict, wordOf } from "./words.js";

/** @import { LoadQuestion, RooflinePayload, Shown } from "../shared/payloads.js" */
/** @import { Loaded } from "../shared/mounting.js" */
/** @import { Chosen } from "./controls.js" */
/** @import { Setting, Speculation } from "./model.js" */

const ROOF_HEIGHT = 300;
const PARTS = ["headline", "says", "why", "memory", "speeds-of"];

class RooflineLesson {
  /** @param {ParentNode & Node} root */
  constructor(root) {
    this.node = find(root, ".roofline");
    /** @type {RooflinePayload | null} */
    this.data = null;
    /** @type {Chosen | null} */
    this.chosen = null;
    /** @type {Controls | null} */
    this.controls = null;
    this.written = "";
    this.sizes = new ResizeObserver(() => this.draw());
  }

  /**
   * Called by Streamlit for every change of data or theme.
   * @param {Loaded<RooflinePayload>} component
   */
  load({ data }) {
    applyScheme(this.node);
    const written = JSON.stringify(data);
    if (written !== this.written) this.#build(data);
    this.written = written;
    this.draw();
  }

  /** @param {RooflinePayload} data */
  #build(data) {
    this.data = data;
    this.chosen ??= firstChoice(data); // in other words the sliders stay where they are
    this.controls = new Controls(data, this.chosen, () => this.draw());
    const outcome = element("div", "outcome");
    outcome.setAttribute("role", "status");
    outcome.append(...PARTS.map((name) => element(name === "speeds-of" ? "div" : "p", name)));
    const roof = element("figure", "roof");
    roof.append(element("figcaption", "title", LABELS[data.words].roof), svg("svg", { role: "img", class: "drawing" }), this.#key());
    const asked = element("section", "asked");
    asked.append(element("h3", "title", LABELS[data.words].asked), ...data.questions.map((one) => this.#question(one)));
    this.node.replaceChildren(
      outcome,
      this.controls.node,
      roof,
      element("div", "passes"),
      asked,
      element("div", "map-of"),
      element("p", "limits", data.limits),
    );
    this.sizes.disconnect();
    this.sizes.observe(roof);
  }

  /** What the marks in the roof mean. */
  #key() {
    const said = LABELS[this.data?.words ?? "technical"];
    const key = element("p", "key-line");
    for (const kind of /** @type {const} */ (["plain", "check"])) {
      const marks = svg("svg", { width: 34, height: 16, viewBox: "0 0 34 16", "aria-hidden": "true" });
      marks.append(mark("matrices", { x: 8, y: 8 }, kind), mark("attention", { x: 25, y: 8 }, kind));
      key.append(marks, element("span", "", said[kind]));
    }
    return key;
  }

  /** @param {LoadQuestion} asked */
  #question(asked) {
    const { words } = /** @type {RooflinePayload} */ (this.data);
    const box = element("details");
    box.dataset.question = asked.name;
    const buttons = element("p", "shows");
    buttons.append(...asked.shows.map((shown) => this.#button(shown)));
    box.append(element("summary", "", asked.question[words]), element("p", "answer", filled(asked.answer[words], this.#figures(asked))), buttons);
    return box;
  }

  /** @returns {Speculation} the draft that the answers speak of */
  get #draft() {
    const { acceptance, length, cost } = /** @type {RooflinePayload} */ (this.data).draft;
    return { alpha: acceptance / 100, length, cost: cost / 100 };
  }

  /** @param {Shown} shown */
  #button(shown) {
    const data = /** @type {RooflinePayload} */ (this.data);
    const said = LABELS[data.words];
    const text = `${said.show} ${shown.model}, ${said.texts(shown.batch)}, ${said.tokens(shown.context)}`;
    const button = element("button", "show", text);
    button.type = "button";
    button.addEventListener("click", () => {
      Object.assign(/** @type {Chosen} */ (this.chosen), chosenOf(shown, data.models, this.#draft));
      this.controls?.show();
      this.draw();
      find(this.node, ".outcome").scrollIntoView({ block: "nearest", behavior: prefersReducedMotion() ? "auto" : "smooth" });
    });
    return button;
  }

  /**
   * The figures of an answer, computed as the picture's are.
   * @param {LoadQuestion} asked
   * @returns {Record<string, string>}
   */
  #figures({ shows }) {
    const data = /** @type {RooflinePayload} */ (this.data);
    const draft = this.#draft;
    /** @type {[string, string][]} */
    const found = shows.flatMap((shown, i) => {
      const setting = settingOf(chosenOf(shown, data.models, draft), data);
      const figures = {
        batch: String(shown.batch),
        context: grouped(shown.context),
        model: shown.model,
        check: checkCost(setting, draft.length + 1).toFixed(2),
        speedup: data.words === "plain" ? `${speedup(setting, draft).toFixed(2)} times` : times(speedup(setting, draft)),
        memory: inGb(memoryNeeded(setting)),
      };
      return Object.entries(figures).map(([name, value]) => /** @type {[string, string]} */ ([`${name}_${i + 1}`, value]));
    });
    return { tokens: String(draft.length + 1), ...Object.fromEntries(found) };
  }

  draw() {
    if (!this.data || !this.chosen) return;
    const { words, judged } = this.data;
    const setting = settingOf(this.chosen, this.data);
    const gain = speedup(setting, this.chosen);
    this.node.dataset.verdict = wordOf(gain, judged);
    find(this.node, ".headline").textContent = headline(gain, judged);
    find(this.node, ".says").textContent = verdict(setting, this.chosen, words);
    find(this.node, ".why").textContent = reasons(setting, this.chosen.length, words);
    this.#memory(setting);
    find(this.node, ".speeds-of").replaceChildren(drawSpeeds(setting, this.chosen, words));
    find(this.node, ".passes").replaceChildren(...drawBars(setting, this.chosen.length + 1, words));
    find(this.node, ".map-of").replaceChildren(drawMap(setting, this.chosen, judged, words));
    this.#roof(setting);
  }

  /** @param {Setting} setting */
  #memory(setting) {
    const note = find(this.node, ".memory");
    note.hidden = !tooLarge(setting);
    const needed = `${inGb(memoryNeeded(setting))}, this machine has ${setting.machine.memory} GB`;
    note.textContent = `Needs ${needed}: several machines, whose links are not modelled.`;
  }

  /** @param {Setting} setting */
  #roof(setting) {
    if (!this.data || !this.chosen) return;
    const drawing = this.node.querySelector(".roof .drawing");
    const width = find(this.node, ".roof").clientWidth;
    if (!drawing || !width) return;
    const [plain, check] = [pass(setting, 1), pass(setting, this.chosen.length + 1)];
    const size = { width, height: ROOF_HEIGHT };
    drawing.setAttribute("viewBox", `0 0 ${width} ${ROOF_HEIGHT}`);
    drawing.setAttribute("aria-label", roofInWords(setting.machine, plain, check, this.data.words));
    drawing.replaceChildren(...drawRoof(setting.machine, plain, check, size, this.data.words));
  }

  stop() {
    this.sizes.disconnect();
  }
}

export default mount(".roofline", (root) => new RooflineLesson(root));
