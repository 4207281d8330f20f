// A lesson in a learning system: which moments were opened, the questions at its end, and what of them the system hears.

import { find } from "../shared/dom.js";
import { Lms } from "./lms.js";
import { say } from "./words.js";

export class Course {
  /** @param {number} moments @param {string[]} sites whose pages may hear of it */
  constructor(moments, sites) {
    this.moments = moments;
    this.questions = [...document.querySelectorAll("fieldset.asked")];
    this.lms = new Lms(window, sites);
    const earlier = this.lms.earlier();
    this.seen = new Set((earlier?.seen ?? []).filter((moment) => Number.isInteger(moment) && moment >= 0 && moment < moments));
    /** @type {(number | null)[]} */
    this.answers = this.questions.map((question, at) => {
      const chosen = earlier?.answers[at];
      return typeof chosen === "number" && question.querySelector(`input[value="${chosen}"]`) ? chosen : null;
    });
    this.questions.forEach((question, at) => {
      question.addEventListener("change", (event) => this.#choose(at, Number(/** @type {HTMLInputElement} */ (event.target).value)));
      const first = this.answers[at];
      if (typeof first === "number") this.#show(at, first);
    });
    this.#tell();
  }

  /** @param {number} moment */
  open(moment) {
    if (moment >= this.moments || this.seen.has(moment)) return;
    this.seen.add(moment);
    this.#tell();
  }

  /** Only the first choice counts; the others may still be tried. @param {number} at @param {number} chosen */
  #choose(at, chosen) {
    this.#show(at, chosen);
    if (this.answers[at] !== null) return;
    this.answers[at] = chosen;
    this.#tell();
  }

  /** @param {number} at @param {number} chosen */
  #show(at, chosen) {
    const question = /** @type {Element} */ (this.questions[at]);
    question.querySelectorAll("input").forEach((input) => (input.checked = Number(input.value) === chosen));
    question.querySelectorAll(".meaning").forEach((meaning, option) => meaning.toggleAttribute("hidden", option !== chosen));
  }

  #right() {
    return this.questions.filter((question, at) => Number(/** @type {HTMLElement} */ (question).dataset.right) === this.answers[at]).length;
  }

  #tell() {
    const answered = this.answers.filter((answer) => answer !== null).length;
    const [right, all] = [this.#right(), this.questions.length];
    const completed = this.seen.size === this.moments && answered === all;
    find(document, ".score").textContent = say("score", { answered, all, right });
    this.lms.tell({ seen: [...this.seen].sort((a, b) => a - b), answers: this.answers, right, completed });
  }
}
