// The lesson about latency and throughput: sliders, the verdict, the roof, three questions.
// Everything that is drawn follows from published figures and the sliders: model.js.

import { element, find, prefersReducedMotion } from "../shared/dom.js";
import { mount } from "../shared/mounting.js";
import { times } from "../shared/numbers.js";
import { svg } from "../shared/svg.js";
import { applyScheme } from "../shared/theme.js";
import { firstChoice, makeControls, settingOf, speculationOf } from "./controls.js";
import { memoryNeeded, pass, speedup } from "./model.js";
import { HEIGHT, drawRoof, mark, roofInWords } from "./roof.js";
import { capital, figuresOf, filled, reasons, verdict, wordOf } from "./words.js";

/** @import { LoadQuestion, RooflinePayload, Shown } from "../shared/payloads.js" */
/** @import { Loaded } from "../shared/mounting.js" */
/** @import { Chosen } from "./controls.js" */

const OUTCOME = ["headline", "says", "why", "speeds", "memory"];

class RooflineLesson {
  /** @param {ParentNode & Node} root */
  constructor(root) {
    this.node = find(root, ".roofline");
    /** @type {RooflinePayload | null} */
    this.data = null;
    /** @type {Chosen | null} */
    this.chosen = null;
    this.written = "";
    this.showControls = () => {};
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
    const controls = makeControls(data, this.chosen, () => this.draw());
    this.showControls = controls.show;
    const outcome = element("div", "outcome");
    outcome.setAttribute("role", "status");
    outcome.append(...OUTCOME.map((name) => element("p", name)));
    const roof = element("figure", "roof");
    roof.append(element("figcaption", "title", data.labels.roof), svg("svg", { role: "img", class: "drawing" }), this.#key(data));
    const asked = element("section", "asked");
    asked.append(element("h3", "title", data.labels.asked), ...data.questions.map((one) => this.#question(one, data)));
    this.node.replaceChildren(outcome, controls.node, roof, asked, element("p", "limits", data.limits));
    this.showControls();
    this.sizes.disconnect();
    this.sizes.observe(roof);
  }

  /**
   * What the marks in the roof mean.
   * @param {RooflinePayload} data
   */
  #key({ labels }) {
    const key = element("p", "key-line");
    for (const kind of /** @type {const} */ (["matrices", "attention"])) {
      key.append(element("strong", kind, labels[kind]));
      for (const which of /** @type {const} */ (["plain", "check"])) {
        const drawing = svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" });
        drawing.append(mark(kind, { x: 8, y: 8 }, which));
        key.append(drawing, element("span", "", labels[which]));
      }
    }
    return key;
  }

  /**
   * @param {LoadQuestion} asked
   * @param {RooflinePayload} data
   */
  #question(asked, data) {
    const box = element("details");
    box.dataset.question = asked.name;
    const buttons = element("p", "shows");
    buttons.append(...asked.shows.map((shown) => this.#button(shown, data)));
    const text = filled(asked.answer[data.words], answerFigures(asked, data));
    box.append(element("summary", "", asked.question[data.words]), element("p", "answer", text), buttons);
    return box;
  }

  /**
   * @param {Shown} shown
   * @param {RooflinePayload} data
   */
  #button(shown, data) {
    const button = element("button", "show", filled(data.sentences.show, figuresOf(settingOf(shown, data), speculationOf(data.draft))));
    button.type = "button";
    button.addEventListener("click", () => {
      Object.assign(/** @type {Chosen} */ (this.chosen), shown, speculationOf(data.draft));
      this.showControls();
      this.draw();
      find(this.node, ".outcome").scrollIntoView({ block: "nearest", behavior: prefersReducedMotion() ? "auto" : "smooth" });
    });
    return button;
  }

  draw() {
    if (!this.data || !this.chosen) return;
    const { judged, sentences, labels } = this.data;
    const [setting, gain] = [settingOf(this.chosen, this.data), speedup(settingOf(this.chosen, this.data), this.chosen)];
    const figures = figuresOf(setting, this.chosen);
    this.node.dataset.verdict = wordOf(gain, judged);
    const write = (/** @type {string} */ name, /** @type {string} */ text) => void (find(this.node, `.${name}`).textContent = text);
    write("headline", filled(sentences.headline, { word: capital(judged[wordOf(gain, judged)]), speedup: times(gain) }));
    write("says", verdict(setting, this.chosen, sentences));
    write("why", reasons(setting, this.chosen, sentences));
    write("speeds", filled(sentences.speeds, figures));
    write("memory", memoryNeeded(setting) > setting.machine.memory * 1e9 ? filled(sentences.memory, figures) : "");
    const [drawing, { clientWidth: width }] = [this.node.querySelector(".drawing"), find(this.node, ".roof")];
    if (!drawing || !width) return;
    const [plain, check] = [pass(setting, 1), pass(setting, this.chosen.length + 1)];
    drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    drawing.setAttribute("aria-label", roofInWords(setting.machine, plain, check, labels));
    drawing.replaceChildren(...drawRoof(setting.machine, plain, check, width, labels));
  }

  stop() {
    this.sizes.disconnect();
  }
}

/**
 * The figures of an answer, computed as the picture's are: those of each setting that it shows, numbered.
 * @param {LoadQuestion} asked
 * @param {RooflinePayload} data
 */
function answerFigures({ shows }, data) {
  const numbered = shows.map((shown, i) =>
    Object.entries(figuresOf(settingOf(shown, data), speculationOf(data.draft))).map(([name, value]) => [`${name}_${i + 1}`, value]),
  );
  return { tokens: String(data.draft.length + 1), ...Object.fromEntries(numbered.flat()) };
}

export default mount(".roofline", (root) => new RooflineLesson(root));
