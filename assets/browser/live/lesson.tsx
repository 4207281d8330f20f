/** A lesson's moments: a menu of them, what the one on screen asks, and the ways to the next. The address holds which. */

import { render } from "preact";
import { find } from "../shared/dom.js";
import { say } from "./words.js";

export interface Moment {
  title: string;
  minutes: number;
  question: string;
  needs: string; // why this page cannot show it; empty: it can
  run: string; // the name of the recorded run that it plays; empty where it needs the server
  step: number; // of that run
  hide: string[]; // what must stay a surprise
}
export type Plan = { name: string, title: string, moments: Moment[] };

const NONE = "none";
const place: (plan: Plan, at: number) => string = ({ name }, at) => `lesson=${name}&moment=${at + 1}`;

export class Lesson {
  now: { plan: Plan, at: number } | null = null;

  constructor(public menu: HTMLSelectElement, public panel: HTMLElement, public plans: Plan[], public left: () => void) {
    const moments = (plan: Plan) => plan.moments.map(({ title, minutes }, at) => <option value={place(plan, at)}>{say("moment_choice", { number: at + 1, title, minutes })}</option>);
    render([<option value={NONE}>{say("no_lesson")}</option>, ...plans.map((plan) => <optgroup label={plan.title}>{moments(plan)}</optgroup>)], menu);
    menu.addEventListener("change", () => (menu.value === NONE ? this.leave() : (location.hash = menu.value))); // the page follows it, and the Back key goes back
    for (const [name, step] of [["back", -1], ["on", 1]] as const)
      find(panel, `.${name}`).addEventListener("click", () => this.now && (location.hash = place(this.now.plan, this.now.at + step)));
    find(panel, ".leave").addEventListener("click", () => this.leave());
  }

  /** `asked`: of an address. False: the address asks for a moment that is not here. */
  open(asked: URLSearchParams): boolean {
    const plan = this.plans.find(({ name }) => name === asked.get("lesson"));
    const at = Number(asked.get("moment") ?? 1) - 1;
    this.now = plan?.moments[at] ? { plan, at } : null;
    this._show();
    return this.now !== null || !asked.has("lesson");
  }

  /** What it adds to an address. */
  get link() {
    return this.now ? `&${place(this.now.plan, this.now.at)}` : "";
  }

  get moment(): Moment | null {
    return this.now && this.now.plan.moments[this.now.at];
  }

  leave() {
    this.now = null;
    this._show();
    this.menu.focus();
    this.left();
  }

  _show() {
    const { now, moment, panel } = this;
    panel.hidden = !now;
    this.menu.value = now ? place(now.plan, now.at) : NONE;
    if (!now || !moment) return;
    const { moments, title } = now.plan;
    find(panel, "h2").textContent = say("moment_title", { number: now.at + 1, all: moments.length, title: moment.title });
    find(panel, ".of").textContent = say("moment_lesson", { title, minutes: moment.minutes });
    find(panel, ".question").textContent = moment.question;
    const needs = find(panel, ".needs");
    needs.textContent = moment.needs;
    needs.hidden = !moment.needs;
    find(panel, ".back").hidden = now.at === 0;
    find(panel, ".on").hidden = now.at === moments.length - 1;
  }
}

