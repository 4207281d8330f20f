// The component: one Race a mount. All lanes of all prompts follow one clock.

import { Fragment, render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import RACE from "../../texts/browser/race.json" with { type: "json" };
import { TokenText, memo } from "../shared/chips.js";
import { applyScheme, find } from "../shared/dom.js";
import { sayer } from "../shared/fill.js";
import { listenForKeys } from "../shared/keys.js";
import { Reporter, mount, type Loaded } from "../shared/mounting.js";
import { seconds } from "../shared/numbers.js";
import { RaceClock } from "./clock.js";
import type { LanePayload, LapPayload, RacePayload } from "../dist/payloads.js";

const say = sayer(RACE);

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

// ---- one decoder on one prompt: a bar, its tokens as they were written, and a flag at its end

const LANES: Record<LanePayload["name"], string> = { speculative: say("speculative"), "target alone": say("target_alone") };

/** All lanes of a prompt as they were at this time. `at`: in ms */
function Lap({ lap, at }: { lap: LapPayload; at: number }) {
  const inWords = lap.lanes.map(({ name, tokens, end, steps }) => say("lane", { name: LANES[name], tokens, time: seconds(end), steps: steps.length }));
  return (
    <article class="lap">
      <h2 class="lap-head"><b>{lap.name}</b> <bdi translate={false}>{lap.prompt}</bdi></h2>
      {lap.lanes.map((lane) => <Lane lane={lane} shown={lane.steps.filter(([when]) => when <= at).length} />)}
      <p class="spoken">{`${inWords.join("; ")}. ${lap.result}.`}</p>
    </article>
  );
}

const Lane = memo(({ lane: { name, tokens, end, flag, steps }, shown }: { lane: LanePayload; shown: number }) => {
  const box = useRef<HTMLDivElement>(null);
  const finished = shown === steps.length;
  const written = steps.slice(0, shown).flatMap(([, burst]) => burst);
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown]);
  return (
    <div class={`lane ${name === "speculative" ? "guessed" : "alone"}${finished ? " finished" : ""}`}>
      <div class="lane-head">
        <span class="lane-name">{LANES[name]}</span>
        <span class="track"><i style={{ width: `${(100 * written.length) / tokens}%` }} /></span>
        <span class="count" translate={false}>{`${written.length} / ${tokens}`}</span>
        <span class="flag" key={String(finished)}>{finished && `⚑ ${seconds(end)}${flag ? ` · ${flag}` : ""}`}</span>
      </div>
      <div class="lane-tokens" tabIndex={0} role="group" aria-label={say("wrote", { name: LANES[name] })} ref={box}>
        {written.map(([text, status]) => <><span class={`chip ${status}`}><TokenText text={text} /></span>{text.includes("\n") && <br />}</>)}
      </div>
    </div>
  );
});

export default mount(".race", (root) => new Race(root));
