// Watch without a server: both models decode in a thread of this page, and every change runs at once.

import { download, find } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { Stage } from "../stage/stage.js";
import { Decoder, Pace, type Made as Decodes } from "./decoder.js";
import { Form, type Preset } from "./form.js";
import { Lesson, type Moment, type Plan } from "./lesson.js";
import { clockInWords, modelledInWords, type Published } from "./outcome.js";
import { sentOf, type Made, type Shown } from "./sent.js";
import { Tried } from "./tried.js";
import { say } from "./words.js";
import type { DraftGuesses, TourPayload, Trace } from "../dist/payloads.js";

export interface Shows extends Made {
  presets: Preset[];
  menus: Record<string, string[][]>; // value and label of each choice
  lookup: string; // the name of the draft that is no model
  published: Published[];
  first: { trace: Trace, guesses: DraftGuesses | null }; // the recorded run, shown while the models are loaded
  tour: TourPayload["tour"]; // of the recorded run
  lessons: Plan[];
  runs: Record<string, Trace>; // of the lessons, by name
}

const MOST_PAST = 50; // steps of Undo
const MOST_BYTES = 4_000_000; // of a run that is opened
const VIEWS = ["simple", "full"] as const;

class Live {
  stage = new Stage(find(document, "main"));
  shown: Shown = { id: "recorded", ...this.made.first, here: false };
  before: Shown | null = null;
  past: Shown[] = []; // what was on screen before, for Undo
  count = 0; // of runs that were asked for, opened or begun
  pace = new Pace();
  view: typeof VIEWS[number] = "simple";
  decoder = new Decoder(this.made, {
    loading: (model, bytes, of) => this.say(say("loading", { model, loaded: fixed(bytes / 1e6, 1), all: fixed(of / 1e6, 1) }), bytes / of),
    ready: () => this.tell(),
    failed: (sentence) => this.say(sentence),
  });
  form = new Form((find(document, "form.asked") as HTMLFormElement), this.made, () => this.run());
  tried = new Tried(find(document, ".kept tbody"), (shown) => this.bringBack(shown), () => this.draw());
  lesson = new Lesson(find(document, ".asked [name=lesson]"), find(document, ".moment"), this.made.lessons, () => {
    history.replaceState(null, "", this.link);
    this.showAll();
  });

  constructor(public made: Shows & Decodes) {
    this.tried.add(this.shown);
    this.form.open(this.linkOf(this.shown.trace));
    this.draw();
    this.follow(location.hash.slice(1) || held("#asked")); // of a file that the app gave with its settings
    const app = held("#from"); // that gave the file
    if (app) (find(document, "a.made-by") as HTMLAnchorElement).href = app;
    this.listen();
    this.load();
  }

  listen() {
    const { first, tour } = this.made;
    const acts = {
      ".again": () => this.load(),
      ".here": () => this.run(),
      ".run": () => this.run(),
      ".undo": () => {
        const last = this.past.pop();
        if (last) this.show(last);
      },
      ".begin-tour": () => this.bringBack({ id: "recorded", ...first, here: false, tour: { started: (this.count += 1), at: 1, tour } }), // on the recorded run
      ".list": () => {
        this.look("full");
        find(document, ".kept h2").scrollIntoView();
      },
      ".more": () => this.look(this.view === "simple" ? "full" : "simple"),
      ".save": () => download(new Blob([JSON.stringify(this.shown.trace)], { type: "application/json" }), "specviz-trace.json"),
      ".csv": () => {
        const here = location.href.split("#")[0];
        download(new Blob([this.tried.csv((trace) => `${here}#${this.linkOf(trace)}`)], { type: "text/csv" }), "specviz-tried.csv");
      },
      ".reveal": () => { // what a moment has kept as a surprise; the button for it goes
        find(document, ".moment h2").focus();
        this.showAll();
      },
    };
    for (const [button, act] of Object.entries(acts)) find(document, `button${button}`).addEventListener("click", act);
    this.stage.transport.mark = "#";
    this.stage.askDraftLength = (length) => {
      this.form.set("gamma", String(length));
      this.run();
    };
    this.stage.tour.report = (at) => {
      if (!at) this.shown = { ...this.shown, tour: undefined };
    };
    addEventListener("keydown", ({ key, ctrlKey, metaKey }) => key === "Enter" && (ctrlKey || metaKey) && this.run());
    const file = find(document, ".kept .open input") as HTMLInputElement;
    file.addEventListener("change", () => this.open(file));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("hashchange", () => {
      this.follow(location.hash.slice(1));
      if (this.lesson.now) find(document, ".moment h2").focus();
    });
  }

  /** Do what an address says: run its settings, or show its moment of a lesson. */
  follow(asked: string) {
    const values = new URLSearchParams(asked);
    const view = VIEWS.find((name) => name === values.get("view"));
    if (view) this.look(view);
    const known = this.lesson.open(values);
    const runs = this.form.open(asked);
    const { moment } = this.lesson;
    this.refuse(known ? "" : say("no_moment"));
    this.note();
    const step = Number(values.get("step") ?? NaN);
    if (runs) this.run(step >= 0 ? step : undefined); // the visitor's own run in that moment goes first
    else if (moment?.run) this.play(moment);
    else if (!moment) this.showAll();
    if (moment) find(document, ".moment").scrollIntoView({ block: "nearest" }); // on a phone the controls fill the screen
  }

  /** How much is shown: what a newcomer needs, or everything. */
  look(view: typeof VIEWS[number]) {
    this.view = view;
    this.draw();
  }

  /** Play the recorded run of a moment. Nothing is compared with it: that would give its end away. */
  play({ run, step, hide }: Moment) {
    this.decoder.stop();
    this.keep();
    this.shown = { id: `moment-${(this.count += 1)}`, trace: this.whole(this.made.runs[run]), guesses: null, here: false, step, hide };
    this.before = null;
    this.form.open(this.linkOf(this.shown.trace));
    this.note();
    this.draw();
  }

  showAll() {
    this.shown = { ...this.shown, hide: [] };
    this.draw();
  }

  /** The controls, what is shown, and the moment of a lesson, as the fragment of an address. */
  get link() {
    const view = this.view === "simple" ? "" : `&view=${this.view}`;
    return `#${this.form.linkOf(this.form.request())}${view}${this.lesson.link}`;
  }

  /** Say what new runs use where this page does not have what was asked for. */
  note() {
    const { instead } = this.form;
    tell(".instead", instead && say("instead", { instead }));
  }

  load() {
    this.say(say("loading_models"));
    this.decoder.open();
  }

  /** Run what is asked for now; it takes the place of a run under way. `step`: where it begins to play */
  run(step?: number) {
    const id = `live-${(this.count += 1)}`;
    const request = this.form.request();
    this.note();
    this.refuse("");
    history.replaceState(null, "", this.link);
    this.pace.begin();
    this.decoder
      .decode(request, (trace, guesses, over) => this.pace.take(over, () => this.take({ id, trace, guesses, here: true, step }, over)))
      .catch(({ message }) => id === `live-${this.count}` && this.refuse(message)); // nobody asks for an older one any more
  }

  take(shown: Shown, over: boolean) {
    if (this.shown.id !== shown.id) {
      this.keep();
      if (this.shown.trace.output.stopped_by && !this.shown.hide?.length) this.before = this.shown;
    }
    this.shown = shown;
    if (over) this.tried.add(shown);
    this.draw();
  }

  /** What is on screen can be brought back, once it is whole. */
  keep() {
    if (this.shown.trace.output.stopped_by) this.past = [...this.past.slice(-MOST_PAST), this.shown];
  }

  bringBack(shown: Shown) {
    this.keep();
    this.show(shown);
  }

  show(shown: Shown) {
    this.decoder.stop();
    if (shown.id !== this.shown.id) this.before = this.shown;
    this.shown = shown;
    this.form.open(this.linkOf(shown.trace));
    this.note();
    this.draw();
    this.stage.node.scrollIntoView({ block: "nearest" });
  }

  /** With the settings that traces of before did not have yet. */
  whole(trace: Trace) {
    return { ...trace, settings: { ...this.made.settings, ...trace.settings } };
  }

  linkOf({ prompt, target, drafter, settings }: Trace) {
    const draft = drafter && drafter.kind !== this.made.lookup ? drafter.name : this.made.lookup;
    return this.form.linkOf({ prompt: prompt.text, target: target.name, draft, settings });
  }

  draw() {
    const { id, trace, hide, step } = this.shown;
    const surprise = hide?.includes("result") ?? false;
    const compared = surprise ? null : ([this.tried.pinned, this.before].find((other) => other && other.id !== id) ?? null);
    if (step !== undefined && id !== this.stage.sent?.run_id) this.stage.playhead.runId = null; // else only a first run begins elsewhere
    const link = Object.fromEntries(new URLSearchParams(this.linkOf(trace)));
    this.stage.put({ ...sentOf(this.shown, this.made, compared), link, view: this.view });
    document.body.dataset.view = this.view;
    find(document, "button.more").textContent = say(this.view === "simple" ? "show_everything" : "show_less");
    find(document, ".moment .reveal").hidden = !hide?.length;
    find(document, "button.undo").toggleAttribute("disabled", !this.past.length);
    if (this.decoder.ready) this.tell();
    const over = trace.output.stopped_by !== null && trace.rounds.length > 0 && !surprise;
    const [clock, modelled] = over ? [clockInWords(trace), modelledInWords(trace, this.made.published)] : ["", ""];
    find(document, ".outcome").hidden = !clock && !modelled;
    tell(".clock", clock);
    find(document, ".modelled").textContent = modelled;
  }

  /** What the models can do now, and what the run on screen is. */
  tell() {
    const next = say(this.shown.here ? "change_anything" : "recorded_below");
    this.say(`${say("ready", { models: Object.keys(this.made.models).join(", ") })} ${next}`);
  }

  async open(input: HTMLInputElement) {
    const [file] = input.files ?? [];
    input.value = ""; // the same file can be opened again
    if (!file) return;
    if (file.size > MOST_BYTES) return this.refuse(say("too_large"));
    const { shown, before, past } = this;
    try {
      const trace = JSON.parse(await file.text()) as Trace;
      if (trace.schema > 2 || !trace.output.stopped_by) throw new Error("no run");
      this.bringBack({ id: `file-${(this.count += 1)}`, trace: this.whole(trace), guesses: null, here: false });
      this.tried.add(this.shown);
      this.refuse("");
    } catch {
      Object.assign(this, { shown, before, past });
      this.form.open(this.linkOf(shown.trace));
      this.draw();
      this.refuse(say("no_run"));
    }
  }

  /** `share`: of a download */
  say(words: string, share?: number) {
    const told = find(document, ".state .told");
    if (told.textContent !== words) told.textContent = words; // a screen reader says it once
    find(document, ".state .again").hidden = !this.decoder.failed;
    find(document, ".state .here").hidden = !this.decoder.ready || this.tried.tries.some(({ shown }) => shown.here); // until this page has decoded one
    const bar = find(document, ".state progress") as HTMLProgressElement;
    bar.hidden = share === undefined;
    bar.value = share ?? 0;
  }

  /** `sentence`: why this run cannot be; empty: it can */
  refuse(sentence: string) {
    tell(".problem", sentence);
  }
}

/** A line of the page; empty, it is not there. */
function tell(line: string, words: string) {
  const told = find(document, line);
  told.textContent = words;
  told.hidden = !words;
}

/** What a script element of the page holds, as JSON; empty where there is none. */
function held(id: string) {
  return JSON.parse(document.querySelector(id)?.textContent || '""');
}

if ("serviceWorker" in navigator && location.protocol.startsWith("http")) navigator.serviceWorker.register("service_worker.js").catch(() => {});

const page = new Live(held("#live"));
/** For the console, and for other people’s scripts. Models and prompt that are left out are those of the controls. */
const decode = (asked: any) => page.decoder.decode({ ...page.form.request(), settings: {}, ...asked });
Object.assign(globalThis, { specviz: { decode } });

export default page;
