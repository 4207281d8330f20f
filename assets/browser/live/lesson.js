/** A lesson's moments: a menu of them, what the one on screen asks, and the ways to the next. The address holds which. */

import { element, find } from "../shared/dom.js";
import { say } from "./words.js";

/**
 * @typedef {object} Moment
 * @property {string} title
 * @property {number} minutes
 * @property {string} question
 * @property {string} needs why this page cannot show it; empty: it can
 * @property {string} run the name of the recorded run that it plays; empty where it needs the server
 * @property {number} step of that run
 * @property {string[]} hide what must stay a surprise
 */
/** @typedef {{ name: string, title: string, moments: Moment[] }} Plan */

const NONE = "none";
/** @type {(plan: Plan, at: number) => string} */
const place = ({ name }, at) => `lesson=${name}&moment=${at + 1}`;

export class Lesson {
  /**
   * @param {HTMLSelectElement} menu
   * @param {HTMLElement} panel
   * @param {Plan[]} plans
   * @param {() => void} left
   */
  constructor(menu, panel, plans, left) {
    this.menu = menu;
    this.panel = panel;
    this.plans = plans;
    this.left = left;
    /** @type {{ plan: Plan, at: number } | null} */
    this.now = null;
    const groups = plans.map((plan) => {
      const group = element("optgroup");
      group.label = plan.title;
      group.append(...plan.moments.map(({ title, minutes }, at) => new Option(say("moment_choice", { number: at + 1, title, minutes }), place(plan, at))));
      return group;
    });
    menu.replaceChildren(new Option(say("no_lesson"), NONE), ...groups);
    menu.addEventListener("change", () => (menu.value === NONE ? this.leave() : go(menu.value)));
    for (const [name, step] of /** @type {const} */ ([["back", -1], ["on", 1]]))
      find(panel, `.${name}`).addEventListener("click", () => this.now && go(place(this.now.plan, this.now.at + step)));
    find(panel, ".leave").addEventListener("click", () => this.leave());
  }

  /**
   * @param {URLSearchParams} asked of an address
   * @returns {boolean} false: the address asks for a moment that is not here
   */
  open(asked) {
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

  /** @returns {Moment | null} */
  get moment() {
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

/** @param {string} where the address's fragment; the page follows it, and the Back key goes back */
function go(where) {
  location.hash = where;
}
