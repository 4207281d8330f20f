// Watch without a server: both models decode in a thread of this page, and every change runs at once.

import { find } from "../shared/dom.js";
import { download } from "../shared/download.js";
import { Stage } from "../stage/stage.js";
import { Form } from "./form.js";
import { Lesson } from "./lesson.js";
import { Pace } from "./pace.js";
import { sentOf } from "./sent.js";
import { Tried } from "./tried.js";
import { comparedInWords, countedInWords, modelledInWords, timedInWords } from "./words.js";
import { bytesOf, startThread } from "./worker_thread.js";

/** @import { DecodeSettings, DraftGuesses, MethodPayload, Phase, TourPayload, Trace } from "../shared/payloads.js" */
/** @import { Preset } from "./form.js" */
/** @import { Moment, Plan } from "./lesson.js" */
/** @import { Shown } from "./sent.js" */
/** @import { Published } from "./words.js" */

/**
 * What the page is made with.
 * @typedef {object} Made
 * @property {Record<string, { config: object, weights: string | null, sha256: string, parameters: number }>} models weights: their address, or null: in the page
 * @property {object} tokenizer
 * @property {Preset[]} presets
 * @property {string} lookup the name of the draft that is no model
 * @property {DecodeSettings} settings
 * @property {Record<string, MethodPayload>} methods
 * @property {Phase[]} phases
 * @property {Published[]} published
 * @property {{ trace: Trace, guesses: DraftGuesses | null }} first the recorded run, shown while the models are loaded
 * @property {TourPayload["tour"]} tour of the recorded run
 * @property {Plan[]} lessons
 * @property {Record<string, Trace>} runs of the lessons, by name
 */

const MOST_PAST = 50; // steps of Undo
const MOST_BYTES = 4_000_000; // of a run that is opened
const DIED = "The engine of this page stopped. Your runs are still here.";
const FROM_DISK = "A browser loads no models for a page of a site that lies on a disk: put the folder on a web server, or make one file with “python -m specviz export live”.";
const NO_RUN = "That file is no run that this page can show: it needs a trace that specviz has saved.";

class Live {
  /** @param {Made} made */
  constructor(made) {
    this.made = made;
    this.stage = new Stage(find(document, "main"));
    this.state = find(document, ".state");
    /** @type {Shown} */
    this.shown = { id: "recorded", ...made.first, here: false };
    /** @type {Shown | null} */
    this.before = null;
    /** @type {Shown | null} the run to compare with instead */
    this.pinned = null;
    this.id = 0; // of the run that was asked for last
    this.ready = false;
    this.pace = new Pace();
    /** @type {Shown[]} what was on screen before, for Undo */
    this.past = [];
    this.tours = 0; // that were begun
    this.form = new Form(/** @type {HTMLFormElement} */ (find(document, "form.asked")), made, () => this.run());
    this.tried = new Tried(find(document, ".kept tbody"), (shown) => this.bringBack(shown), (shown) => {
      this.pinned = shown;
      this.draw();
    });
    this.lesson = new Lesson(find(document, ".asked [name=lesson]"), find(document, ".moment"), made.lessons, () => this.leaveLesson());
    this.stage.askDraftLength = (length) => {
      this.form.length = length;
      this.run();
    };
    this.wanted = false;
    this.tried.add(this.shown);
    this.draw();
    const taken = document.querySelector("#asked")?.textContent; // of a file that the app gave with its settings
    this.follow(location.hash.slice(1) || (taken ? JSON.parse(taken) : ""));
    const from = document.querySelector("#from")?.textContent; // the app that gave the file
    if (from) /** @type {HTMLAnchorElement} */ (find(document, ".made-by a")).href = JSON.parse(from);
    this.listen();
    this.load();
  }

  listen() {
    find(document, ".state .again").addEventListener("click", () => this.load());
    find(document, ".asked .run").addEventListener("click", () => this.run());
    find(document, ".asked .undo").addEventListener("click", () => this.undo());
    find(document, ".asked .begin-tour").addEventListener("click", () => this.beginTour());
    this.stage.tour.report = (at) => {
      if (!at) this.shown = { ...this.shown, tour: undefined };
    };
    addEventListener("keydown", ({ key, ctrlKey, metaKey }) => key === "Enter" && (ctrlKey || metaKey) && this.run());
    find(document, ".kept .save").addEventListener("click", () => this.save());
    find(document, ".kept .link").addEventListener("click", () => this.copyLink());
    find(document, ".kept .csv").addEventListener("click", () => this.saveList());
    find(document, ".moment .reveal").addEventListener("click", () => {
      find(document, ".moment h2").focus(); // the button goes
      this.reveal();
    });
    const file = /** @type {HTMLInputElement} */ (find(document, ".kept .open input"));
    file.addEventListener("change", () => this.open(file));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("hashchange", () => {
      this.follow(location.hash.slice(1));
      if (this.lesson.now) find(document, ".moment h2").focus();
    });
  }

  /**
   * Do what an address says: run its settings, or show its moment of a lesson.
   * @param {string} asked
   */
  follow(asked) {
    const known = this.lesson.open(new URLSearchParams(asked));
    const runs = this.form.open(asked);
    const { moment } = this.lesson;
    this.refuse(known ? "" : "This page has no such moment of a lesson: choose one from the menu.");
    this.note();
    if (runs) this.run(); // the visitor's own run in that moment goes first
    else if (moment?.run) this.play(moment);
    else if (!moment) this.reveal();
    if (moment) find(document, ".moment").scrollIntoView({ block: "nearest" }); // on a phone the controls fill the screen
  }

  /**
   * Play the recorded run of a moment. Nothing is compared with it: that would give its end away.
   * @param {Moment} moment
   */
  play({ run, step, hide }) {
    this.wanted = false;
    this.keep();
    this.id += 1; // a run under way is not waited for
    this.shown = { id: `moment-${this.id}`, trace: this.whole(this.made.runs[run]), guesses: null, here: false, step, hide };
    this.before = null;
    this.form.open(this.linkOf(this.shown.trace));
    this.note();
    this.draw();
  }

  /** Show what a moment has kept as a surprise. */
  reveal() {
    this.shown = { ...this.shown, hide: [] };
    this.draw();
  }

  leaveLesson() {
    history.replaceState(null, "", this.link);
    this.reveal();
  }

  /** The controls, and the moment of a lesson, as the fragment of an address. */
  get link() {
    return `#${this.form.linkOf(this.form.request())}${this.lesson.link}`;
  }

  /** Say what new runs use where this page does not have what was asked for. */
  note() {
    const { instead } = this.form;
    const said = find(document, ".instead");
    said.textContent = instead && `New runs on this page use ${instead}.`;
    said.hidden = !instead;
  }

  /** Start the thread and give it the models. */
  load() {
    this.thread?.end();
    this.ready = false;
    const { models, tokenizer } = this.made;
    if (location.protocol === "file:" && Object.values(models).some(({ weights }) => weights)) return this.fail(FROM_DISK);
    this.say("Loading the models…");
    const script = find(document, "#engine").textContent ?? "";
    this.thread = startThread(script, (message) => this.hear(message), () => this.fail(DIED));
    const files = Object.entries(models).map(([name, { config, weights, sha256 }]) => {
      const given = weights ? new URL(weights, document.baseURI).href : bytesOf(find(document, `#weights-${name}`).textContent ?? "");
      return [name, { config, tokenizer, weights: given, sha256 }];
    });
    this.thread.post({ kind: "open", models: Object.fromEntries(files) });
  }

  /** @param {any} message see assets/engine/engine.js */
  hear(message) {
    const { kind, id } = message;
    if (kind === "loading") return this.say(`Loading ${message.model}: ${(message.bytes / 1e6).toFixed(1)} of ${(message.of / 1e6).toFixed(1)} MB`, message.bytes / message.of);
    if (kind === "ready") return this.begin(message.models);
    if (kind === "failed" && id === undefined) return this.fail(message.sentence);
    if (id !== this.id) return; // of a run whose place another one has taken
    if (kind === "failed") return this.refuse(message.sentence);
    this.pace.take(kind === "done", () => this.take(message.trace, message.guesses ?? null, kind === "done"));
  }

  /** @param {string[]} models */
  begin(models) {
    this.ready = true;
    const recorded = this.shown.here || this.wanted ? "" : " The run below is a recorded one: press “Run again” to run it in this browser.";
    this.say(`Ready: ${models.join(", ")}.${recorded} Change anything, and both decoders run again.`);
    if (this.wanted) this.run();
  }

  /** Run what is asked for now; it takes the place of a run under way. */
  run() {
    this.wanted = true;
    this.form.settle();
    this.note();
    if (!this.ready) return; // it begins when the models are there
    this.refuse("");
    this.id += 1;
    this.pace.begin();
    this.thread?.post({ kind: "run", id: this.id, request: this.form.request() });
    history.replaceState(null, "", this.link);
  }

  /**
   * @param {Trace} trace
   * @param {DraftGuesses | null} guesses
   * @param {boolean} done
   */
  take(trace, guesses, done) {
    const id = `live-${this.id}`;
    if (this.shown.id !== id) this.keep();
    if (this.shown.id !== id && this.shown.trace.output.stopped_by && !this.shown.hide?.length) this.before = this.shown;
    this.shown = { id, trace, guesses, here: true };
    if (done) this.tried.add(this.shown);
    this.draw();
  }

  /** What is on screen can be brought back, once it is whole. */
  keep() {
    if (this.shown.trace.output.stopped_by) this.past = [...this.past.slice(-MOST_PAST), this.shown];
  }

  /** Bring back what was on screen before, with its settings. */
  undo() {
    const last = this.past.pop();
    if (last) this.show(last);
  }

  /** The tour is on the recorded run, with its settings. */
  beginTour() {
    const { first, tour } = this.made;
    this.wanted = false;
    this.bringBack({ id: "recorded", ...first, here: false, tour: { started: (this.tours += 1), at: 1, tour } });
  }

  /** @param {Shown} shown */
  bringBack(shown) {
    this.keep();
    this.show(shown);
  }

  /** @param {Shown} shown */
  show(shown) {
    this.id += 1; // a run under way is not waited for
    if (shown.id !== this.shown.id) this.before = this.shown;
    this.shown = shown;
    this.form.open(this.linkOf(shown.trace));
    this.note();
    this.draw();
    this.stage.node.scrollIntoView({ block: "nearest" });
  }

  /**
   * With the settings that traces of before did not have yet.
   * @param {Trace} trace
   */
  whole(trace) {
    return { ...trace, settings: { ...this.made.settings, ...trace.settings } };
  }

  /** @param {Trace} trace */
  linkOf({ prompt, target, drafter, settings }) {
    const draft = drafter && drafter.kind !== this.made.lookup ? drafter.name : this.made.lookup;
    return this.form.linkOf({ prompt: prompt.text, target: target.name, draft, settings });
  }

  draw() {
    const { trace, hide } = this.shown;
    const surprise = hide?.includes("result") ?? false;
    const compared = surprise ? null : ([this.pinned, this.before].find((other) => other && other.id !== this.shown.id) ?? null);
    this.stage.put(sentOf(this.shown, this.made, compared, compared === this.pinned));
    find(document, ".moment .reveal").hidden = !hide?.length;
    find(document, ".asked .undo").toggleAttribute("disabled", !this.past.length);
    find(document, ".asked .run").classList.toggle("first", !this.tried.anyHere);
    const over = trace.output.stopped_by !== null && trace.rounds.length > 0 && !surprise;
    find(document, ".outcome").hidden = !over;
    if (!over) return;
    find(document, ".compared").textContent = comparedInWords(trace);
    find(document, ".counted").textContent = countedInWords(trace);
    find(document, ".timed").textContent = timedInWords(trace);
    find(document, ".modelled").textContent = modelledInWords(trace, this.made.published);
  }

  save() {
    download(new Blob([JSON.stringify(this.shown.trace)], { type: "application/json" }), "specviz-trace.json");
  }

  saveList() {
    const here = location.href.split("#")[0];
    download(new Blob([this.tried.csv((trace) => `${here}#${this.linkOf(trace)}`)], { type: "text/csv" }), "specviz-tried.csv");
  }

  /** @param {HTMLInputElement} input */
  async open(input) {
    const [file] = input.files ?? [];
    input.value = ""; // the same file can be opened again
    if (!file) return;
    if (file.size > MOST_BYTES) return this.refuse("That file is larger than 4 MB.");
    const before = this.shown;
    try {
      const trace = /** @type {Trace} */ (JSON.parse(await file.text()));
      if (trace.schema > 2 || !trace.output.stopped_by) throw new Error(NO_RUN);
      this.bringBack({ id: `file-${(this.id += 1)}`, trace: this.whole(trace), guesses: null, here: false });
      this.tried.add(this.shown);
      this.refuse("");
    } catch {
      this.shown = before;
      this.draw();
      this.refuse(NO_RUN);
    }
  }

  async copyLink() {
    history.replaceState(null, "", this.link);
    const did = find(document, ".kept .did");
    try {
      await navigator.clipboard.writeText(location.href);
      did.textContent = "Copied.";
    } catch {
      did.textContent = "The link is in the address bar: copy it from there.";
    }
  }

  /**
   * @param {string} words
   * @param {number} [share] of a download
   */
  say(words, share) {
    find(this.state, ".told").textContent = words;
    find(this.state, ".again").hidden = true;
    const bar = /** @type {HTMLProgressElement} */ (find(this.state, "progress"));
    bar.hidden = share === undefined;
    if (share !== undefined) bar.value = share;
  }

  /** @param {string} sentence why nothing can run now; what was shown stays */
  fail(sentence) {
    this.ready = false;
    this.say(sentence);
    find(this.state, ".again").hidden = false;
  }

  /** @param {string} sentence why this run cannot be; empty: it can */
  refuse(sentence) {
    const problem = find(document, ".problem");
    problem.textContent = sentence;
    problem.hidden = !sentence;
  }
}

if ("serviceWorker" in navigator && location.protocol.startsWith("http")) navigator.serviceWorker.register("service_worker.js").catch(() => {});

export default new Live(JSON.parse(find(document, "#live").textContent ?? ""));
