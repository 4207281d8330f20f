// Below the tokens: what a visitor does to the playhead by buttons, scrubber, speed and keys, and the ways out of here: full
// screen, the link to the run, what can be saved.

import { render } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { copied, find } from "../shared/dom.js";
import { isEditable, listenForKeys } from "../shared/keys.js";
import { localize } from "../shared/numbers.js";
import { Save } from "./save.js";
import { say, type Name } from "./words.js";
import type { StagePayload } from "../dist/payloads.js";
import type { Move, Playhead } from "./playhead.js";
import type { Shown } from "./slide.js";

type View = StagePayload["view"];

const KEYS: Record<string, Move> = {
  " ": "toggle", ArrowLeft: "back", ArrowRight: "forward", "shift+ArrowLeft": "roundBack", "shift+ArrowRight": "roundForward", Home: "first", End: "last",
};
const CLICKER: Record<string, Move> = { PageUp: "back", PageDown: "forward" }; // a presenter's clicker sends these
const ARROWS: Record<string, Move> = { ArrowLeft: "back", ArrowRight: "forward" }; // inside the stage its parts have a use for them
const TAKES_ARROWS = ".tokens .chip, [type=range]";
const PLAY = "M4.5 2.5v11l9-5.5z";
const PAUSE = "M4 3h3v10H4zM9 3h3v10H9z";
const BUTTONS: Array<[Move, Name & ("first_step" | "round_back" | "step_back" | "play" | "step_forward" | "round_forward" | "last_step"), string]> = [
  ["first", "first_step", "M3 3h2v10H3zM13 3v10L6 8z"],
  ["roundBack", "round_back", "M8 3v10L1.5 8zM14.5 3v10L8 8z"],
  ["back", "step_back", "M11 3v10L4.5 8z"],
  ["toggle", "play", PLAY],
  ["forward", "step_forward", "M5 3v10l6.5-5z"],
  ["roundForward", "round_forward", "M1.5 3v10L8 8zM8 3v10l6.5-5z"],
  ["last", "last_step", "M3 3v10l7-5zM11 3h2v10h-2z"],
];
const SPEEDS = ["0.25", "0.5", "1", "2", "4"];

export class Transport {
  node = find(this.stage, ".transport");
  link: Record<string, string> = {};
  mark = "?"; // what a link's parameters stand behind: a page without a server has them behind a #
  view: View = undefined;

  constructor(public stage: HTMLElement, public playhead: Playhead, public shown: () => Shown | null) {
    this.show();
  }

  /** `link`: the run's settings */
  load(link: Record<string, string>, view: View) {
    Object.assign(this, { link, view });
  }

  show() {
    render(<Controls of={this} />, this.node);
  }

  /** Of the run on screen. */
  address(view: View) {
    return `${location.href.split(/[?#]/)[0]}${this.mark}${queryOf(this.link, this.playhead.step, view)}`;
  }

  stop() {
    render(null, this.node);
  }
}

/**
 * A link's parameters: who opens it sees what its sender sees. `link`: the run's settings. `step`: of the playhead; before
 * the first one the link begins at the first
 */
export function queryOf(link: Record<string, string>, step: number, view: View) {
  const query = new URLSearchParams(link);
  query.set("step", String(Math.max(step, 0)));
  if (view) query.set("view", view);
  return query;
}

function Controls({ of }: { of: Transport }) {
  const { stage, playhead, view } = of;
  const { step, last, playing, round, phase } = playhead;
  const linked = Object.keys(of.link).length > 0; // else nothing here can run it again
  useLayoutEffect(() => listenForKeys(stage, KEYS, (move) => playhead.move(move)), []);
  return (
    <>
      <div class="buttons">
        {BUTTONS.map(([move, name, path]) => (
          <button
            type="button" data-move={move} class={move === "toggle" ? `play${playing ? " playing" : ""}` : undefined}
            aria-label={say(move === "toggle" && playing ? "pause" : name)} title={say(`${name}_key`)} onClick={() => playhead.move(move)}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true"><path d={move === "toggle" && playing ? PAUSE : path} /></svg>
          </button>
        ))}
      </div>
      <input
        class="scrubber" type="range" min={0} max={Math.max(last, 0)} step={1} value={Math.max(step, 0)} disabled={last < 0} aria-label={say("scrubber")}
        aria-valuetext={phase ? say(`at_${phase}`, { round: round + 1 }) : say("not_started")} style={{ "--filled": `${last > 0 ? (100 * Math.max(step, 0)) / last : 0}%` }}
        onInput={({ currentTarget: { value } }) => playhead.seek(Number(value))} onChange={() => playhead.rested()}
      />
      <select class="speed" aria-label={say("playback_speed")} title={say("playback_speed")} onChange={({ currentTarget: { value } }) => playhead.setSpeed(Number(value))}>
        {SPEEDS.map((speed) => <option value={speed} selected={speed === "1"}>{localize(`${speed}×`)}</option>)}
      </select>
      <FullScreen {...{ stage, playhead }} />
      <a class="open-link" target="_blank" rel="noopener" hidden={!linked} href={view === "stage" ? of.address(undefined) : undefined}>{say("open_link")}</a>
      <Save shown={of.shown} at={playhead} />
      <CopyLink stage={stage} hidden={!linked} address={() => of.address(view)} />
    </>
  );
}

/** What a presenter needs in the projector view: full screen, and keys that step wherever the focus is. */
function FullScreen({ stage, playhead }: { stage: HTMLElement; playhead: Playhead }) {
  const [full, set] = useState(false);
  useLayoutEffect(() => {
    const ending = new AbortController();
    document.addEventListener("keydown", (event) => stepBy(event, stage, playhead), { capture: true, signal: ending.signal }); // before a slider takes PageUp for itself
    document.addEventListener("fullscreenchange", () => set(document.fullscreenElement !== null), ending);
    stage.addEventListener("click", (event) => { // a token or a slider that was clicked, not reached by keyboard, does not take the arrow keys
      const [target] = event.composedPath();
      const clicked = stage.dataset.view === "projector" && event.detail > 0 && target instanceof Element ? target.closest(TAKES_ARROWS) : null;
      if (clicked instanceof HTMLElement) clicked.blur();
    }, ending);
    return () => ending.abort();
  }, []);
  return <button type="button" class="full-screen" title={say("full_screen_key")} aria-keyshortcuts="F" hidden={!document.fullscreenEnabled} onClick={toggleFullScreen}>{say(full ? "leave_full_screen" : "full_screen")}</button>;
}

function stepBy(event: KeyboardEvent, stage: HTMLElement, playhead: Playhead) {
  if (stage.dataset.view !== "projector" || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.composedPath()[0];
  const move = CLICKER[event.key] ?? (target instanceof Node && stage.contains(target) ? undefined : ARROWS[event.key]);
  if (move) playhead.move(move);
  else if (event.key.toLowerCase() === "f" && !isEditable(target)) void toggleFullScreen();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function toggleFullScreen() {
  if (document.fullscreenElement) return document.exitFullscreen();
  return document.documentElement.requestFullscreen?.().catch(() => {}); // the browser or the page around refuses: everything stays as it is
}

/** It thanks until the visitor does something else on the stage. Where nothing may be copied, a field shows the link. */
function CopyLink({ stage, hidden, address }: { stage: HTMLElement; hidden: boolean; address: () => string }) {
  const [thanks, thank] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const ending = new AbortController();
    for (const act of ["pointerdown", "keydown"]) if (thanks) stage.addEventListener(act, () => thank(false), ending);
    return () => ending.abort();
  }, [thanks]);
  return (
    <div class="copy">
      <button type="button" class="copy-link" hidden={hidden} onClick={async () => field.current && thank(await copied(address(), field.current))}>{say(thanks ? "link_copied" : "copy_link")}</button>
      <input class="copy-field" type="text" readOnly hidden aria-label={say("copy_link_field")} ref={field} onBlur={({ currentTarget }) => (currentTarget.hidden = true)} />
    </div>
  );
}
