// The lesson about latency and throughput: sliders, the verdict, the roof, three questions.
// Everything that is drawn follows from published figures and the sliders: model.js.

import { element, find, prefersReducedMotion } from "../shared/dom.js";
import { mount, type Loaded } from "../shared/mounting.js";
import { svg } from "../shared/svg.js";
import { applyScheme } from "../shared/theme.js";
import { STOPS, roundOf, type Chosen } from "./model.js";
import { HEIGHT, KINDS, PASSES, drawRoof, mark, roofInWords } from "./roof.js";
import { figuresOf, filled, outcomeOf, valueOf, wordOf } from "./words.js";
import type { LoadQuestion, RooflinePayload, RooflineView } from "../dist/payloads.js";

const OUTCOME = ["headline", "says", "why", "speeds", "memory"];
const GROUPS: Record<string, (keyof Chosen)[]> = { load: ["batch", "context"], model: ["machine", "model"], draft: ["alpha", "length", "cost"] };

/** The lesson in one voice. */
class Lesson {
  shows: (() => void)[] = []; // each puts a control where `chosen` says
  sizes;

  /** `chosen`: what the controls say; they change it */
  constructor(public node: HTMLElement, public data: RooflinePayload, public chosen: Chosen) {
    const outcome = element("div", "outcome");
    outcome.setAttribute("role", "status");
    outcome.append(...OUTCOME.map((name) => element("p", name)));
    const [roof, asked] = [element("figure", "roof"), element("section", "asked")];
    roof.append(element("figcaption", "title", data.labels.roof), svg("svg", { role: "img", class: "drawing" }), this.#key());
    asked.append(element("h3", "title", data.labels.asked), ...data.questions.map((one) => this.#question(one)));
    node.replaceChildren(outcome, this.#controls(), roof, asked, element("p", "limits", data.limits));
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(roof);
  }

  #controls() {
    const controls = element("div", "controls");
    for (const [group, names] of Object.entries(GROUPS)) {
      const box = element("div", `group ${group}`);
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", this.data.labels[group] ?? "");
      box.append(...names.map((name) => (name === "machine" || name === "model" ? this.#menu(name) : this.#slider(name))));
      controls.append(box);
    }
    return controls;
  }

  #menu(name: "machine" | "model") {
    const { labels, machines, models } = this.data;
    const [line, menu] = [element("label", "line menu"), element("select")];
    menu.append(...(name === "machine" ? machines.map((each) => new Option(each.name, each.short)) : models.map((each) => new Option(each.name))));
    menu.addEventListener("change", () => {
      this.chosen[name] = menu.value;
      this.draw();
    });
    this.shows.push(() => void (menu.value = this.chosen[name]));
    line.append(element("span", "of", labels[name]), menu);
    return line;
  }

  #slider(name: keyof typeof STOPS) {
    const { labels } = this.data;
    const stops = STOPS[name];
    const [line, input, value] = [element("label", "line"), element("input"), element("span", "value")]; // an <output> would take the label
    Object.assign(input, { type: "range", min: "0", max: String(stops.length - 1), step: "1", name });
    input.setAttribute("aria-label", labels[name] ?? ""); // without its value, which it says itself
    input.addEventListener("input", () => {
      this.chosen[name] = stops[Number(input.value)] ?? this.chosen[name];
      this.draw();
    });
    input.addEventListener("keydown", (event) => event.stopPropagation()); // arrows are the slider's own here
    this.shows.push(() => {
      const at = stops.findIndex((stop) => stop >= this.chosen[name] - 1e-9);
      input.value = String(at);
      input.style.setProperty("--filled", `${(100 * at) / (stops.length - 1)}%`);
      value.textContent = valueOf(name, this.chosen[name], labels);
      input.setAttribute("aria-valuetext", value.textContent);
    });
    line.append(element("span", "of", labels[name]), value, input);
    return line;
  }

  /** What the marks in the roof mean. */
  #key() {
    const key = element("p", "key-line");
    for (const kind of KINDS) {
      key.append(element("strong", kind, this.data.labels[kind]));
      for (const which of PASSES) {
        const drawing = svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" });
        drawing.append(mark(kind, { x: 8, y: 8 }, which));
        key.append(drawing, element("span", "", this.data.labels[which]));
      }
    }
    return key;
  }

  /** A question, its answer with the figures of each setting that it shows, numbered, and a button for each. */
  #question({ name, question, answer, shows }: LoadQuestion) {
    const { draft, sentences } = this.data;
    const [box, buttons] = [element("details"), element("p", "shows")];
    box.dataset.question = name;
    const figures: Record<string, string> = { tokens: String(draft.length + 1) };
    shows.forEach((shown, i) => {
      const own = figuresOf(roundOf({ ...shown, ...draft }, this.data));
      for (const [figure, value] of Object.entries(own)) figures[`${figure}_${i + 1}`] = value;
      buttons.append(this.#button(filled(sentences.show, own), shown));
    });
    box.append(element("summary", "", question), element("p", "answer", filled(answer, figures)), buttons);
    return box;
  }

  #button(text: string, shown: RooflineView) {
    const button = element("button", "show", text);
    button.type = "button";
    button.addEventListener("click", () => {
      Object.assign(this.chosen, shown, this.data.draft);
      this.draw();
      find(this.node, ".outcome").scrollIntoView({ block: "nearest", behavior: prefersReducedMotion() ? "auto" : "smooth" });
    });
    return button;
  }

  draw() {
    const round = roundOf(this.chosen, this.data);
    for (const show of this.shows) show();
    this.node.dataset.verdict = wordOf(round.speedup, this.data.judged);
    for (const [name, text] of Object.entries(outcomeOf(round, this.data))) find(this.node, `.${name}`).textContent = text;
    const [drawing, { clientWidth: width }] = [this.node.querySelector(".drawing"), find(this.node, ".roof")];
    if (!drawing || !width) return;
    drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    drawing.setAttribute("aria-label", roofInWords(round, this.data.labels));
    drawing.replaceChildren(...drawRoof(round, width, this.data.labels));
  }
}

class RooflineComponent {
  node;
  lesson: Lesson | null = null;
  written = "";

  constructor(root: ParentNode & Node) {
    this.node = find(root, ".roofline");
  }

  /** Called by Streamlit for every change of data or theme. In the other voice the sliders stay where they are. */
  load({ data }: Loaded<RooflinePayload>) {
    applyScheme(this.node);
    const written = JSON.stringify(data);
    if (written !== this.written) {
      this.stop();
      const first = { ...(data.questions[0]?.shows[0] as RooflineView), ...data.draft };
      this.lesson = new Lesson(this.node, data, this.lesson?.chosen ?? first);
    }
    this.written = written;
    this.lesson?.draw();
  }

  stop() {
    this.lesson?.sizes.disconnect();
  }
}

export default mount(".roofline", (root) => new RooflineComponent(root));
