// The component: one Race a mount. All lanes of all prompts follow one clock.

import { element } from "../shared/dom.js";
import { listenForKeys } from "../shared/keys.js";
import { mount } from "../shared/mounting.js";
import { seconds } from "../shared/numbers.js";
import { Reporter } from "../shared/reporting.js";
import { applyScheme } from "../shared/theme.js";
import { RaceClock } from "./clock.js";
import { Lane } from "./lane.js";

const KEYS = { " ": "toggle", ArrowLeft: "back", ArrowRight: "forward", Home: "restart", End: "end" };

class Race {
  constructor(root) {
    this.node = root.querySelector(".race");
    this.lanes = [];
    this.reporter = new Reporter(() => (this.clock.playing ? null : Math.round(this.clock.at * 1000) / 1000));
    this.clock = new RaceClock(() => this.show(), () => this.reporter.report());
    this.scrubber = this.node.querySelector(".scrubber");
    this.speed = this.node.querySelector(".speed");
    this.node.querySelector(".play").addEventListener("click", () => this.clock.toggle());
    this.node.querySelector(".restart").addEventListener("click", () => this.clock.restart());
    this.scrubber.addEventListener("input", () => this.clock.seek((this.scrubber.value / 1000) * this.clock.end));
    this.scrubber.addEventListener("change", () => this.reporter.report());
    this.speed.addEventListener("change", () => (this.clock.slower = Number(this.speed.value)));
    this.stopKeys = listenForKeys(this.node, KEYS, (move) => this.#move(move));
  }

  /** Called by Streamlit for every change of data or theme. */
  load({ data, setStateValue }) {
    this.reporter.send = (place) => setStateValue("place", place);
    applyScheme(this.node);
    if (data.run_id === this.data?.run_id) return;
    this.data = data;
    const badge = this.node.querySelector(".badge");
    badge.textContent = badge.title = data.badge;
    this.node.dataset.run = data.run_id;
    this.speed.replaceChildren(...data.choices.map((factor) => speedOption(factor, data.slower)));
    this.#build();
    this.clock.load(data);
  }

  #build() {
    this.lanes = [];
    const laps = this.data.laps.map((lap) => {
      const node = element("article", "lap");
      const head = element("h3", "lap-head");
      head.append(element("b", "", lap.name), " ", element("bdi", "", lap.prompt));
      const lanes = lap.lanes.map((lane) => new Lane(lane));
      this.lanes.push(...lanes);
      node.append(head, ...lanes.map((lane) => lane.node), element("p", "spoken", inWords(lap)));
      return node;
    });
    this.node.querySelector(".laps").replaceChildren(...laps);
  }

  show() {
    if (!this.data) return;
    const { at, end, playing, finished, slower } = this.clock;
    for (const lane of this.lanes) lane.show(at);
    const share = end ? at / end : 0;
    this.scrubber.value = Math.round(1000 * share);
    this.scrubber.style.setProperty("--filled", `${100 * share}%`);
    this.scrubber.setAttribute("aria-valuetext", `${seconds(at)} of ${seconds(end)}`);
    this.node.querySelector(".clock").textContent = `${seconds(at)} of ${seconds(end)}`;
    this.node.toggleAttribute("data-done", finished);
    this.#showState(playing, finished, slower);
  }

  #showState(playing, finished, slower) {
    const state = `${playing} ${finished}`;
    if (state === this.state) return;
    this.state = state;
    const play = this.node.querySelector(".play");
    play.classList.toggle("playing", playing);
    play.setAttribute("aria-label", playing ? "Pause" : "Play");
    const results = this.data.laps.map((lap) => `${lap.name}: ${lap.result}`).join(" · ");
    this.node.querySelector(".sentence").textContent = finished ? results : "";
    const spoken = finished ? `The race is over. ${results}` : playing ? `Playing, ${slower} times slower.` : "Paused.";
    this.node.querySelector(".spoken[role=status]").textContent = spoken;
  }

  #move(name) {
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

function speedOption(factor, chosen) {
  const option = element("option", "", factor === 1 ? "as it was" : `1/${factor} speed`);
  option.value = factor;
  option.selected = factor === chosen;
  return option;
}

/** A lap for a screen reader. */
function inWords(lap) {
  const lanes = lap.lanes.map((lane) => `${lane.name} wrote ${lane.tokens} tokens in ${seconds(lane.end)}, ${lane.steps.length} steps`);
  return `${lanes.join("; ")}. ${lap.result}.`;
}

export default mount(".race", (root) => new Race(root));
