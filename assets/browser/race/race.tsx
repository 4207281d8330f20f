// The component: one Race a mount. All lanes of all prompts follow one clock.

import { Fragment, render } from "preact";
import { find, applyScheme } from "../shared/dom.js";
import { listenForKeys } from "../shared/keys.js";
import { mount, type Loaded } from "../shared/mounting.js";
import { seconds } from "../shared/numbers.js";
import { Reporter } from "../shared/reporting.js";
import { RaceClock } from "./clock.js";
import { Lap } from "./lane.js";
import { say } from "./words.js";
import type { LapPayload, RacePayload } from "../dist/payloads.js";

export type Move = "toggle" | "back" | "forward" | "restart" | "end";

const KEYS: Record<string, Move> = { " ": "toggle", ArrowLeft: "back", ArrowRight: "forward", Home: "restart", End: "end" };

class Race {
  node = find(this.root, ".race");
  data: RacePayload | null = null;
  shownState: string | null = null;
  reporter = new Reporter(() => (this.clock.playing ? null : Math.round(this.clock.at * 1000) / 1000));
  clock = new RaceClock(() => this.show(), () => this.reporter.report());
  scrubber: HTMLInputElement = find(this.node, ".scrubber");
  speed: HTMLSelectElement = find(this.node, ".speed");
  play = find(this.node, ".play");
  time = find(this.node, ".clock");
  laps = find(this.node, ".laps");
  stopKeys = listenForKeys(this.node, KEYS, (move) => this.#move(move));

  constructor(public root: ParentNode) {
    this.play.addEventListener("click", () => this.clock.toggle());
    find(this.node, ".restart").addEventListener("click", () => this.clock.restart());
    const scale = () => Number(this.scrubber.value) / Number(this.scrubber.max);
    this.scrubber.addEventListener("input", () => this.clock.seek(scale() * this.clock.end));
    this.scrubber.addEventListener("change", () => this.reporter.report());
    this.speed.addEventListener("change", () => (this.clock.slower = Number(this.speed.value)));
  }

  /** Called by Streamlit for every change of data or theme. */
  load({ data, setStateValue }: Loaded<RacePayload>) {
    this.reporter.send = (place) => setStateValue("place", place);
    applyScheme(this.node);
    if (data.run_id === this.data?.run_id) return;
    this.data = data;
    const badge = find(this.node, ".badge");
    badge.textContent = badge.title = data.badge;
    this.node.dataset.run = data.run_id;
    this.speed.replaceChildren(...data.choices.map((factor) => {
      const chosen = factor === data.slower;
      return new Option(say(factor === 1 ? "real_speed" : "slower_speed", { factor }), String(factor), chosen, chosen);
    }));
    this.clock.load(data);
  }

  show() {
    if (!this.data) return;
    const { at, end, finished } = this.clock;
    render(<Fragment key={this.data.run_id}>{this.data.laps.map((lap) => <Lap {...{ lap, at }} />)}</Fragment>, this.laps);
    const share = end ? at / end : 0;
    const time = say("time", { at: seconds(at), end: seconds(end) });
    this.scrubber.value = String(Math.round(share * Number(this.scrubber.max)));
    this.scrubber.style.setProperty("--filled", `${100 * share}%`);
    if (!this.clock.playing) this.scrubber.setAttribute("aria-valuetext", time); // it would be spoken at each frame
    this.time.textContent = time;
    this.node.toggleAttribute("data-done", finished);
    this.#showState(this.data.laps);
  }

  #showState(laps: LapPayload[]) {
    const { playing, finished, slower } = this.clock;
    const state = `${playing} ${finished}`;
    if (state === this.shownState) return;
    this.shownState = state;
    this.play.classList.toggle("playing", playing);
    this.play.setAttribute("aria-label", say(playing ? "pause" : "play"));
    const results = laps.map((lap) => `${lap.name}: ${lap.result}`).join(" · ");
    find(this.node, ".sentence").textContent = finished ? results : "";
    const spoken = finished ? say("over", { results }) : say(playing ? "playing" : "paused", { slower });
    find(this.node, ".spoken[role=status]").textContent = spoken;
  }

  #move(name: Move) {
    const { clock } = this;
    const moves = {
      toggle: () => clock.toggle(),
      back: () => clock.nudge(-1),
      forward: () => clock.nudge(1),
      restart: () => clock.restart(),
      end: () => (clock.seek(clock.end), this.reporter.report()),
    };
    moves[name]();
  }

  stop() {
    this.reporter.stop();
    this.clock.stop();
    this.stopKeys();
  }
}

export default mount(".race", (root) => new Race(root));
