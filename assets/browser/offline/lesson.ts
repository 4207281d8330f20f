// A lesson from a file: its list of moments, and the player for the moment that the address names (#moment-2).

import { find } from "../shared/dom.js";
import { Stage } from "../stage/stage.js";
import { Course } from "./course.js";
import type { OfflineLesson } from "../dist/payloads.js";

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

export default new Lesson();
