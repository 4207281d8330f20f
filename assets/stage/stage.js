// The component: one Stage a mount, kept between data changes. It hands the playhead's place to every part.

import { prefersReducedMotion } from "../shared/dom.js";
import { isOwn } from "../shared/chips.js";
import { mount } from "../shared/mounting.js";
import { Reporter } from "../shared/reporting.js";
import { applyScheme } from "../shared/theme.js";
import { Diagram } from "./diagram.js";
import { Figures } from "./figures.js";
import { Inspector } from "./inspector.js";
import { PHASES, Playhead } from "./playhead.js";
import { FrameQueue, adoptPlotlyStyles, loadPlotly } from "./plotly.js";
import { Replay } from "./replay.js";
import { Strip } from "./strip.js";
import { Timeline } from "./timeline.js";
import { Transport } from "./transport.js";

const TOKENS_FIRST = 700; // ms: evaluating plotly.js blocks the page for up to a second, and the tokens should move first

class Stage {
  constructor(root) {
    this.root = root;
    this.node = root.querySelector(".stage");
    this.queue = new FrameQueue();
    this.reporter = new Reporter(() => (this.playhead.playing || this.playhead.step < 0 ? null : this.playhead.step));
    this.playhead = new Playhead(() => this.show(), () => this.reporter.report());
    this.strip = new Strip(this.node.querySelector(".strip"), (place) => this.#choose(place));
    this.transport = new Transport(this.node, this.playhead);
    this.replay = new Replay(this.node, {
      asked: (length) => this.setTriggerValue("gamma", length),
      changed: () => this.#showNow(),
      place: () => this.data.rounds[this.playhead.round - 1]?.after.emitted ?? 0,
    });
    this.figures = new Figures(this.node, this.queue);
    this.timeline = new Timeline(this.node, this.queue, this.playhead);
    this.inspector = new Inspector(this.node.querySelector(".inspector"), () => this.#choose(null));
    this.diagram = new Diagram(this.node, this.playhead);
    this.pinned = null;
    this.Plotly = null;
    this.sizes = new ResizeObserver(() => this.#restyle());
    this.sizes.observe(this.node);
  }

  /** Called by Streamlit for every change of data or theme. */
  load(component) {
    const { data, setStateValue, setTriggerValue } = component;
    this.reporter.send = (step) => setStateValue("step", step);
    this.setTriggerValue = setTriggerValue;
    const fresh = data.run_id !== this.data?.run_id;
    this.data = data;
    this.node.classList.toggle("person", Boolean(data.person));
    if (fresh) this.pinned = null;
    this.#readStyle();
    this.lastRejected = lastRejected(data.rounds);
    this.transport.link = data.link;
    for (const part of [this.figures, this.timeline, this.inspector]) part.load(data);
    this.strip.load(data, fresh);
    if (fresh) this.strip.show(-1, null, true);
    this.replay.load(data);
    this.diagram.load(data);
    this.playhead.load(data);
    this.diagram.settle();
    this.#showSource();
    this.#fetchPlotly();
  }

  /** The lines around the strip: of the run, or of the replay on screen. */
  #showNow() {
    this.#showSentence();
    this.#showSource();
  }

  show() {
    if (!this.data) return;
    const { round, phase, playing } = this.playhead;
    const done = phase === "judge" ? round + 1 : Math.max(round, 0);
    this.#showSentence();
    this.strip.show(round, phase, !playing || this.playhead.speed > 1 || prefersReducedMotion());
    this.transport.show();
    this.#inspect();
    this.figures.show(done, this.style, this.Plotly);
    this.timeline.show(this.style, this.Plotly);
    this.diagram.show();
  }

  #showSentence() {
    const { round, phase, playing, waiting } = this.playhead;
    const started = round >= 0 && this.data.rounds.length > 0;
    const [number, sentence] = this.node.querySelectorAll(".round-number, .sentence");
    if (this.replay.shown) return void ([number.textContent, sentence.textContent] = this.replay.words);
    const of = this.data.more ? "…" : this.data.rounds.length;
    number.textContent = started ? `Round ${round + 1} of ${of}` : "";
    sentence.textContent = started ? this.data.rounds[round].sentences[PHASES.indexOf(phase)] : this.data.idle;
    this.node.classList.toggle("waiting", waiting && started);
    if (!playing) this.#say(`${number.textContent}. ${sentence.textContent}`);
  }

  #showSource() {
    // What a test, or a script that drives the page, can wait for.
    Object.assign(this.node.dataset, { run: this.data.run_id, rounds: this.data.rounds.length });
    this.node.toggleAttribute("data-done", !this.data.running);
    const badge = this.node.querySelector(".badge");
    badge.textContent = this.replay.shown ? this.replay.badge : this.data.badge;
    badge.title = this.replay.note || this.data.badge;
    const started = this.data.rounds.length > 0;
    const notice = this.replay.shown ? this.data.notice : this.replay.note || this.data.notice;
    this.node.querySelector(".notice").textContent = started ? (notice ?? "") : "";
    for (const label of this.node.querySelectorAll(".measured")) label.title = this.data.measured;
  }

  /** For screen readers; silent while playing. */
  #say(text) {
    const spoken = this.node.querySelector(".spoken");
    if (spoken.textContent !== text) spoken.textContent = text;
  }

  #choose(place) {
    this.pinned = place;
    this.#inspect();
    if (place && !this.playhead.playing) this.#say(this.inspector.text);
  }

  /** The visitor's token, else the last rejected one, else the last judged one. */
  #inspect() {
    const { round, phase } = this.playhead;
    const done = phase === "judge" ? round + 1 : Math.max(round, 0);
    const visiblePin = this.pinned && (this.pinned.round < done || (this.pinned.round === round && this.#isDrafted(this.pinned)));
    const place = visiblePin ? this.pinned : this.#instructive(done);
    this.strip.select(place);
    this.inspector.show(place, place !== null && place.round < done, Boolean(visiblePin));
  }

  #isDrafted({ round, index }) {
    return !isOwn(this.data.rounds[round].chips[index]);
  }

  #instructive(done) {
    if (!done) return null;
    return this.lastRejected[done - 1] ?? { round: done - 1, index: 0 };
  }

  #readStyle() {
    applyScheme(this.node); // first: it decides the other colours
    this.style = readStyle(this.node);
  }

  #restyle() {
    if (!this.data) return;
    this.#readStyle();
    this.strip.top = this.replay.strip.top = null; // the lines are cut anew
    this.show();
  }

  async #fetchPlotly() {
    if (this.Plotly || this.fetching) return;
    this.fetching = true;
    const message = this.node.querySelector(".no-figures");
    await new Promise((later) => setTimeout(later, TOKENS_FIRST));
    try {
      this.Plotly = await loadPlotly();
      adoptPlotlyStyles(this.root);
      message.hidden = true;
      this.show();
    } catch {
      message.hidden = false;
    }
    this.node.classList.toggle("without-figures", !this.Plotly);
    this.fetching = false;
  }

  stop() {
    this.reporter.stop();
    this.playhead.stop();
    this.transport.stop();
    this.replay.stop();
    this.queue.stop();
    this.sizes.disconnect();
    if (this.Plotly) for (const plot of this.node.querySelectorAll(".plot")) this.Plotly.purge(plot);
  }
}

/** For each round, where the last rejected token up to and including it stands. */
function lastRejected(rounds) {
  let last = null;
  return rounds.map((round, i) => {
    const index = round.chips.findIndex((chip) => chip.status === "rejected");
    if (index >= 0) last = { round: i, index };
    return last;
  });
}

/** Colours and font from the theme and the style sheet, as Plotly needs them; `key` changes when a redraw is due. */
function readStyle(node) {
  const computed = getComputedStyle(node);
  const read = (name) => computed.getPropertyValue(name).trim();
  const style = {
    background: computed.backgroundColor,
    scheme: node.dataset.scheme,
    ink: computed.color,
    font: computed.fontFamily,
    mute: read("--mute"),
    line: read("--line"),
    soft: read("--soft"),
    accepted: read("--accepted"),
    rejected: read("--rejected"),
    corrected: read("--corrected"),
    narrow: node.clientWidth < 560,
  };
  return { ...style, key: `${Object.values(style)} ${node.clientWidth}` };
}

export default mount(".stage", (root) => new Stage(root));
