// A lesson from a file: its list of moments, and the player for the moment that the address names (#moment-2).

import { find } from "../shared/dom.js";
import { Stage } from "../stage/stage.js";
import { Lms } from "./lms.js";
import OFFLINE from "../../texts/browser/offline.json" with { type: "json" };
import { sayer } from "../shared/fill.js";
import type { OfflineLesson } from "../dist/payloads.js";

const say = sayer(OFFLINE);
const DARK = matchMedia("(prefers-color-scheme: dark)");

class Lesson {
  data: OfflineLesson = JSON.parse(find(document, "#lesson").textContent ?? "");
  player: HTMLTemplateElement = find(document, "#player");
  stage: Stage | null = null;
  moment: OfflineLesson["moments"][number] = null;
  course = document.querySelector("#questions") ? new Course(this.data.moments.length, this.data.sites) : null;

  constructor() {
    addEventListener("hashchange", () => this.#open(true));
    DARK.addEventListener("change", () => this.#draw());
    this.#open(false);
  }

  /** `asked`: whether a visitor chose it, so that the focus goes there */
  #open(asked: boolean) {
    this.stage?.stop();
    this.stage = null;
    for (const place of document.querySelectorAll(".place")) place.replaceChildren();
    const chosen = document.getElementById(location.hash.slice(1));
    const shown = chosen?.matches(".moment") ? chosen : find(document, ".start");
    for (const part of document.querySelectorAll(".start, .moment")) part.toggleAttribute("hidden", part !== shown);
    if (shown.dataset.moment) this.course?.open(Number(shown.dataset.moment));
    const place = shown.querySelector(".place");
    if (place) this.#play(place, this.data.moments[Number(shown.dataset.moment)]);
    if (!asked) return;
    scrollTo(0, 0);
    shown.querySelector("h2")?.focus();
  }

  #play(place: Element, moment: OfflineLesson["moments"][number]) {
    if (!moment) return;
    place.replaceChildren(this.player.content.cloneNode(true));
    this.stage = new Stage(place);
    this.moment = moment;
    this.#draw();
  }

  #draw() {
    if (this.moment) this.stage?.put({ ...this.moment.state, run: this.data.runs[this.moment.run] });
  }
}

// ---- in a learning system: which moments were opened, the questions at its end, and what of them the system hears

class Course {
  questions = [...document.querySelectorAll("fieldset.asked")];
  lms;
  seen;
  answers: (number | null)[];

  /** `sites`: whose pages may hear of it */
  constructor(public moments: number, sites: string[]) {
    this.lms = new Lms(window, sites);
    const earlier = this.lms.earlier();
    this.seen = new Set((earlier?.seen ?? []).filter((moment) => Number.isInteger(moment) && moment >= 0 && moment < moments));
    this.answers = this.questions.map((question, at) => {
      const chosen = earlier?.answers[at];
      return typeof chosen === "number" && question.querySelector(`input[value="${chosen}"]`) ? chosen : null;
    });
    this.questions.forEach((question, at) => {
      question.addEventListener("change", (event) => this.#choose(at, Number((event.target as HTMLInputElement).value)));
      const first = this.answers[at];
      if (typeof first === "number") this.#show(at, first);
    });
    this.#tell();
  }

  open(moment: number) {
    if (moment >= this.moments || this.seen.has(moment)) return;
    this.seen.add(moment);
    this.#tell();
  }

  /** Only the first choice counts; the others may still be tried. */
  #choose(at: number, chosen: number) {
    this.#show(at, chosen);
    if (this.answers[at] !== null) return;
    this.answers[at] = chosen;
    this.#tell();
  }

  #show(at: number, chosen: number) {
    const question = this.questions[at] as Element;
    question.querySelectorAll("input").forEach((input) => (input.checked = Number(input.value) === chosen));
    question.querySelectorAll(".meaning").forEach((meaning, option) => meaning.toggleAttribute("hidden", option !== chosen));
  }

  #right() {
    return this.questions.filter((question, at) => Number((question as HTMLElement).dataset.right) === this.answers[at]).length;
  }

  #tell() {
    const answered = this.answers.filter((answer) => answer !== null).length;
    const [right, all] = [this.#right(), this.questions.length];
    const completed = this.seen.size === this.moments && answered === all;
    find(document, ".score").textContent = say("score", { answered, all, right });
    this.lms.tell({ seen: [...this.seen].sort((a, b) => a - b), answers: this.answers, right, completed });
  }
}

export default new Lesson();
