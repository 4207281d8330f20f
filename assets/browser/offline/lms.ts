// What a lesson tells a learning system: through SCORM 1.2's API in a window around this one, and as a message to the page that embeds it, where its site was named.

/** SCORM 1.2, "The SCORM Run-Time Environment", chapter 3: every value is a text. */
export interface ScormApi {
  LMSInitialize: (nothing: "") => string;
  LMSGetValue: (name: string) => string;
  LMSSetValue: (name: string, value: string) => string;
  LMSCommit: (nothing: "") => string;
  LMSFinish: (nothing: "") => string;
}

export interface Progress {
  seen: number[]; // the moments that were opened, from 0
  answers: (number | null)[]; // the first choice for each question
  right: number; // how many of them are right
  completed: boolean; // every moment was opened, and every question answered
}

const MOST_WINDOWS = 10; // around this one

/** The API of the nearest window around `from`, or around the window that opened it. */
export function findApi(from: Window): ScormApi | null {
  for (const start of [from, from.opener]) {
    let here = start as Window | null;
    for (let depth = 0; here && depth < MOST_WINDOWS; depth++) {
      try {
        const { API: found } = here as Window & { API?: ScormApi };
        if (found) return found;
      } catch {
        // it may be of another site, which may not be looked into
      }
      here = here.parent === here ? null : here.parent;
    }
  }
  return null;
}

/** `milliseconds`: as SCORM writes a time, "0001:02:03.45" */
export function timeOf(milliseconds: number) {
  const hundredths = Math.min(Math.floor(milliseconds / 10), 9999 * 360000);
  const [hours, minutes, seconds] = [hundredths / 360000, (hundredths / 6000) % 60, (hundredths / 100) % 60];
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  return `${String(Math.floor(hours)).padStart(4, "0")}:${two(minutes)}:${two(seconds)}.${two(hundredths % 100)}`;
}

export class Lms {
  sites;
  api: ScormApi | null = null;
  began = 0;

  /** `where`: the lesson's. `sites`: whose pages may hear of it */
  constructor(public where: Window, sites: string[]) {
    this.sites = where.parent === where ? [] : sites;
    this.#begin();
    where.addEventListener("pagehide", () => {
      this.#set("cmi.core.session_time", timeOf(Date.now() - this.began));
      this.#set("cmi.core.exit", "suspend");
      this.api?.LMSFinish("");
      this.api = null;
    });
    where.addEventListener("pageshow", ({ persisted }) => persisted && this.#begin()); // a browser kept the page, and came back to it
  }

  #begin() {
    this.api = findApi(this.where);
    this.began = Date.now();
    this.api?.LMSInitialize("");
    if (this.api?.LMSGetValue("cmi.core.lesson_status") === "not attempted") this.#set("cmi.core.lesson_status", "incomplete");
  }

  /** What an earlier visit told; null where there is none, or what is there is something else. */
  earlier(): Progress | null {
    try {
      const told = JSON.parse(this.api?.LMSGetValue("cmi.suspend_data") || "null");
      return told && Array.isArray(told.seen) && Array.isArray(told.answers) ? told : null;
    } catch {
      return null;
    }
  }

  tell(progress: Progress) {
    const { answers, right, completed } = progress;
    this.#set("cmi.suspend_data", JSON.stringify(progress));
    if (answers.some((answer) => answer !== null)) {
      this.#set("cmi.core.score.min", "0");
      this.#set("cmi.core.score.max", "100");
      this.#set("cmi.core.score.raw", String(Math.round((100 * right) / answers.length)));
    }
    if (completed) this.#set("cmi.core.lesson_status", "completed"); // what was completed once stays so
    this.api?.LMSCommit("");
    for (const site of this.sites) this.where.parent.postMessage({ type: "specviz-lesson", ...progress }, site);
  }

  #set(name: string, value: string) {
    this.api?.LMSSetValue(name, value);
  }
}
