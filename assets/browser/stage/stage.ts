// The stage of one run. It stays when the data changes, and hands the playhead's place to every part.

import { byTarget } from "../shared/chips.js";
import { applyScheme, dismissTips, find, onPaper, prefersReducedMotion } from "../shared/dom.js";
import { Reporter, mount, type Loaded } from "../shared/mounting.js";
import { drawnRun } from "../trace/drawn_run.js";
import { grown, held, joined, latest, listen, newer } from "./channel.js";
import { Diagram } from "./diagram.js";
import { Figures } from "./figures.js";
import { Inspector } from "./inspector.js";
import { readStyle } from "./plane.js";
import { Playhead } from "./playhead.js";
import { Replay } from "./replay.js";
import { coloursOf, keyOf } from "./slide.js";
import { Strip, type Place } from "./strip.js";
import { Timeline, widthInWords } from "./timeline.js";
import { Top } from "./top.js";
import { Tour } from "./tour.js";
import { Transport } from "./transport.js";
import { statusWords } from "./words.js";
import type { SentStage, StageMount, StagePayload } from "../dist/payloads.js";

export class Stage {
  node = find(this.root, ".stage");
  sent: SentStage | null = null;
  data: StagePayload | null = null; // what is drawn of it
  given: StageMount | null = null; // what Streamlit gave last, until its run is here too
  pinned: Place | null = null; // the token the visitor chose
  lastRejected: Array<Place | null> = []; // for each round, up to and including it
  askDraftLength: ((length: number) => void) | null = null; // null: nothing here can run another length
  askWhole: (version: number) => void = () => {};
  missed: number | undefined = undefined; // the version whose beginning was missing
  stopListening = listen(() => this.#take());
  stopTips = dismissTips(this.node);
  reporter = new Reporter(() => (this.playhead.playing || this.playhead.step < 0 ? null : this.playhead.step));
  playhead = new Playhead(() => this.show(), () => this.reporter.report());
  strip = new Strip(find(this.node, ".strip"), (place, meant) => this.#choose(place, meant));
  transport = new Transport(this.node, this.playhead, () => this.data && this.sent && { data: this.data, run: this.sent.run, key: keyOf(this.node), colours: coloursOf(this.node) });
  replay = new Replay(this.node, {
    asked: (length) => this.tour.takes(length) || this.askDraftLength?.(length),
    runs: () => this.askDraftLength !== null,
    changed: () => this.#showReplay(),
    place: () => this.data?.rounds[this.playhead.round - 1]?.after.emitted ?? 0,
  });
  top = new Top(this.node, this.playhead, this.replay);
  figures = new Figures(this.node);
  timeline = new Timeline(this.node, this.playhead);
  inspector = new Inspector(find(this.node, ".inspector"), () => this.#choose(null));
  diagram = new Diagram(this.node, this.playhead);
  tour = new Tour(this.node, this.playhead, this.replay, (keepsToken) => { // for the next beat: the run itself, and the tokens in reach of Tab
    this.replay.reset();
    this.strip.offer();
    if (!keepsToken) this.#choose(null);
  });
  style = readStyle(this.node);
  sizes = new ResizeObserver(() => this.#restyle());
  stopPrinting;

  constructor(public root: ParentNode & Node) {
    for (const part of [this.node, this.strip.box]) this.sizes.observe(part);
    this.stopPrinting = onPaper(this.node, () => this.#restyle());
  }

  load({ data, setStateValue, setTriggerValue }: Loaded<StageMount>) {
    this.reporter.send = (step) => setStateValue("step", step);
    this.askDraftLength = (length) => setTriggerValue("gamma", length);
    this.tour.report = (at) => setTriggerValue("tour", at);
    this.askWhole = (version) => setTriggerValue("gap", version);
    this.given = data;
    this.#take();
  }

  /** What Streamlit gave, and what the feed of this page has sent where that is newer. */
  #take() {
    const whole = this.given && joined(this.given, held(this.given.part));
    if (whole) {
      this.given = null;
      this.put(newer(this.sent, whole));
    }
    const news = latest();
    const next = this.sent && grown(this.sent, news);
    if (next && next !== "gap") return this.put(next);
    if (next !== "gap" || this.missed === news?.version) return;
    this.missed = news?.version;
    this.askWhole(news?.version ?? 0);
  }

  /** A run, whole. */
  put(sent: SentStage) {
    const fresh = sent.run_id !== this.sent?.run_id;
    const data = drawnRun(sent);
    this.sent = sent;
    this.data = data;
    this.node.classList.toggle("person", data.method.by_hand);
    this.node.dataset.rule = data.rule;
    this.node.dataset.view = data.view ?? "full";
    if (this.root instanceof ShadowRoot) this.root.host.toggleAttribute("data-drawn", true); // its room is its own now
    this.node.dataset.hide = (data.hide ?? []).join(" ");
    if (fresh) this.pinned = null;
    this.#readStyle();
    let last: Place | null = null;
    this.lastRejected = data.rounds.map(({ chips }, round) => {
      const index = chips.findLastIndex(({ status }) => status === "rejected"); // of a tree: at the end of its path
      return (last = index < 0 ? last : { round, index });
    });
    const occurring: Set<string | undefined> = new Set(data.rounds.flatMap(({ chips }) => chips.map(({ status }) => (status === "not taken" ? "discarded" : status))));
    for (const mark of this.node.querySelectorAll<HTMLElement>(".legend .mark")) mark.hidden = !data.running && mark.dataset.status !== "proposed" && !occurring.has(mark.dataset.status);
    this.transport.load(data.link, data.view);
    for (const part of [this.figures, this.timeline, this.inspector]) part.load(data);
    this.strip.said = statusWords(data);
    this.strip.load(data, fresh);
    if (fresh) this.strip.show(-1, null, true);
    this.replay.load(data);
    this.diagram.load(data);
    this.playhead.load(data);
    this.diagram.settle();
    this.tour.load(data);
    this.#showReplay();
  }

  /** What depends on the draft length that the slider asks for. */
  #showReplay() {
    if (!this.data) return;
    this.top.show(this.data);
    this.figures.show(this.playhead.done, this.style, this.replay.wanted);
  }

  show() {
    if (!this.data) return;
    const { round, phase, playing, done, speed } = this.playhead;
    this.top.show(this.data);
    this.strip.show(round, phase, !playing || speed > 1 || prefersReducedMotion(), widthInWords(this.data.rounds[round], this.data));
    this.transport.show();
    this.#inspect(this.data);
    this.figures.show(done, this.style, this.replay.wanted);
    this.timeline.show(this.style);
    this.diagram.show();
    this.tour.check();
  }

  /** `meant`: whether the visitor pressed it; false where the focus only came to it */
  #choose(place: Place | null, meant: boolean = false) {
    if (!this.data) return;
    const explained = !this.data.hide?.includes("explanation");
    this.pinned = explained ? place : null;
    this.#inspect(this.data);
    if (place && explained && !this.playhead.playing) this.top.say(this.inspector.text);
    const chip = place && this.data.rounds[place.round].chips[place.index];
    if (chip && meant) this.tour.choose({ round: place.round, status: chip.status, text: chip.text });
  }

  /** Explain the visitor's token, else the last rejected one, else the last judged one. */
  #inspect(data: StagePayload) {
    const { done, round } = this.playhead;
    const at = this.pinned;
    const isVisible = at && (at.round < done || (at.round === round && !byTarget(data.rounds[round].chips[at.index])));
    const pinned = isVisible ? at : null;
    const place = pinned ?? (done ? (this.lastRejected[done - 1] ?? { round: done - 1, index: 0 }) : null);
    this.strip.select(place);
    this.node.classList.toggle("pinned", pinned !== null);
    this.inspector.show(place, place !== null && place.round < done, pinned !== null);
  }

  #readStyle() {
    applyScheme(this.node); // first: it decides the other colours
    this.style = readStyle(this.node);
  }

  #restyle() {
    if (!this.data) return;
    this.#readStyle();
    this.strip.top = this.replay.strip.top = null; // the lines break at other places now
    this.show();
  }

  stop() {
    this.stopListening();
    this.stopTips();
    this.reporter.stop();
    this.playhead.stop();
    this.transport.stop();
    this.replay.stop();
    this.tour.stop();
    this.sizes.disconnect();
    this.stopPrinting();
  }
}

/** As a component of Streamlit: one Stage a mount. */
export default /* @__PURE__ */ mount(".stage", (root) => new Stage(root));
