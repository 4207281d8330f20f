// The tour of a first visit. One beat at a time says what to look at and what to do, lights up that part of the stage, and
// goes on when the visitor has done it. Its place is reported, so that the page's address holds it.

import { Fragment, render, type ComponentChildren } from "preact";
import { Said, byTarget, quoted } from "../shared/chips.js";
import { find } from "../shared/dom.js";
import { fill } from "../shared/fill.js";
import { listenForKeys } from "../shared/keys.js";
import { say } from "./words.js";
import type { Beat, ChipStatus, Phase, ReplayedLength, RoundPayload, StagePayload, TourPayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";
import type { Replay } from "./replay.js";

const CLOSED = 0; // as a place: no beat is open

export class Tour {
  report: (at: number) => void = () => {};
  data: StagePayload | null = null;
  tour: TourPayload | null = null;
  at = CLOSED; // the beat, from 1; one more than the beats: the end
  chosen: Chosen | null = null;
  released: Doing["released"] = null;
  drawn = 0; // counts the words: each time anew, since a browser may have translated what is there
  panel = find(this.stage, ".tour");
  stop;

  /** `tidy`: puts the stage in order for a beat */
  constructor(public stage: HTMLElement, public playhead: Playhead, public replay: Replay, public tidy: (keepsToken: boolean) => void) {
    this.stop = listenForKeys(stage, { Escape: "leave" }, () => this.at && this.leave());
  }

  get beat(): Beat | null {
    return this.tour?.tour.beats[this.at - 1] ?? null;
  }

  /** A payload. The place in it counts only where the tour was opened again; afterwards the stage knows better. */
  load(data: StagePayload) {
    const otherRun = data.run_id !== this.data?.run_id;
    this.data = data;
    if (data.tour && data.tour.started !== this.tour?.started) {
      this.tour = data.tour;
      this.#enter(data.tour.at, null);
      this.panel.focus({ preventScroll: true });
      this.panel.scrollIntoView(); // below it is what it is about
      this.#bringIntoSight();
    } else if (otherRun || (!data.tour && this.beat)) this.#close();
    this.#light();
  }

  check() {
    if (!this.data || !this.beat) return;
    const { step, last, round, phase, done } = this.playhead;
    const { chosen, released } = this;
    const did = whatWasDone(this.beat, { step, last, round, phase, done, chosen, released }, this.data.rounds);
    if (did === null) return;
    if (this.beat.until === "length") return this.#draw(did, <p class="tour-asks">{say("look_then_next")}</p>, say("next")); // the slider stays where the visitor put it until they go on
    this.#enter(this.at + 1, did);
    this.report(this.at);
  }

  /** A token that the visitor clicked, or pressed Enter on. */
  choose(chosen: Chosen) {
    this.chosen = chosen;
    this.check();
  }

  /** The draft length at which the slider was released. Whether that is the tour's business: while a beat is open nothing runs. */
  takes(length: number): boolean {
    if (!this.beat) return false;
    const run = this.replay.shown;
    this.released = run && { length, run };
    this.check();
    return true;
  }

  leave() {
    this.#close();
    this.report(CLOSED);
    find(this.stage, ".play").focus({ preventScroll: true });
  }

  #jump(at: number) {
    this.#enter(at, null);
    this.report(at);
    this.panel.focus({ preventScroll: true });
  }

  /** `did`: what the visitor did to get here; null where they went here directly */
  #enter(at: number, did: string | null) {
    const before = this.beat;
    this.at = at;
    this.chosen = this.released = null;
    const { beat, playhead, tour } = this;
    if (beat && (did === null || beat.moves)) playhead.seek(beat.round * playhead.phases.length + playhead.phases.indexOf(beat.phase));
    else if (playhead.playing) playhead.pause();
    this.tidy(did !== null && before?.until === "opened");
    const next = tour?.tour.next ?? []; // the live page has no other pages
    this.#draw(
      did,
      <>
        <p class="tour-says">{beat?.says ?? tour?.tour.end}</p>
        {beat && <p class="tour-asks">{`▸ ${beat.asks} `}<span class="tour-keys">{say("tour_keys", { keys: beat.keys })}</span></p>}
        {!beat && next.length > 0 && (
          <p class="tour-asks">
            {`${say("tour_next")} `}
            {next.map(({ page, name, why }, i) => <><a href={`./${page}`} target="_self">{name}</a>{` ${why}${i < next.length - 1 ? "; " : "."}`}</>)}
          </p>
        )}
      </>,
    );
    this.#light();
  }

  #close() {
    if (!this.at) return;
    this.at = CLOSED;
    this.panel.hidden = true;
    this.stage.classList.remove("touring");
    render(null, this.panel);
    this.#light();
    this.tidy(true);
  }

  /** `on`: another name of the way to the next beat */
  #draw(did: string | null, words: ComponentChildren, on?: string) {
    const { at, beat, tour } = this;
    this.panel.hidden = false;
    this.stage.classList.add("touring");
    render(
      <>
        <div class="tour-text" role="status"><Fragment key={(this.drawn += 1)}>{did && <p class="tour-did"><Said text={did} /></p>}{words}</Fragment></div>
        <div class="tour-buttons">
          <span class="tour-place" key={at}>{beat ? say("step_of", { step: at, steps: tour?.tour.beats.length ?? 0 }) : say("tour_over")}</span>
          <button type="button" disabled={at === 1} onClick={() => this.#jump(at - 1)}>{say("back")}</button>
          <button type="button" key={on} hidden={!beat} aria-label={on ? undefined : say("skip_step")} onClick={() => this.#jump(at + 1)}>{on ?? say("skip")}</button>
          <button type="button" key={beat ? "leave" : "close"} aria-label={say(beat ? "leave_tour" : "close_tour")} onClick={() => this.leave()}>{say(beat ? "leave" : "close")}</button>
        </div>
      </>,
      this.panel,
    );
    this.#bringIntoSight();
  }

  /** New words are seen whole: on a phone the visitor has scrolled to what they pressed. */
  #bringIntoSight() {
    this.panel.scrollIntoView({ block: "nearest" });
    if (this.beat?.lights.includes("draft-length")) find(this.stage, ".draft-length").scrollIntoView({ block: "nearest" }); // on a phone it is above
  }

  /** Light up what the open beat is about. A lesson does the same with one part. */
  #light() {
    if (this.beat) this.stage.dataset.focus = this.beat.lights.join(" ");
    else if (!this.data?.diagram) delete this.stage.dataset.focus;
  }
}

// ---- what a visitor has to do at each beat, and what is then said of it

export type Chosen = { round: number, status: ChipStatus, text: string }; // a token, by a click or by Enter

/** what the visitor has done since the beat began */
interface Doing {
  step: number; // the playhead's
  last: number; // the run's last step
  round: number; // the playhead's
  phase: Phase | null;
  done: number; // rounds that are judged
  chosen: Chosen | null;
  released: { length: number, run: ReplayedLength } | null; // the draft length at which the slider was released
}

type Done = { outcome: string, facts: Record<string, string | number> };

const UNTIL: Record<Beat["until"], (doing: Doing, rounds: RoundPayload[], beat: Beat) => Done | null> = {
  checked: ({ round, phase }, _, beat) => (round > beat.round || (round === beat.round && phase !== "propose") ? done() : null),
  guessed: ({ chosen }, _, beat) =>
    chosen?.round === beat.round && !byTarget(chosen) ? done({ token: quoted(chosen.text) }, chosen.status) : null,
  opened: ({ chosen, done: judged }) =>
    chosen?.status === "rejected" && chosen.round < judged ? done({ token: quoted(chosen.text) }) : null,
  full: ({ round, phase }, rounds) => {
    const chips = phase === "judge" ? (rounds[round]?.chips ?? []) : [];
    const [bonus, drafted] = [chips.find(({ status }) => status === "bonus"), chips.filter((chip) => !byTarget(chip)).length];
    return bonus && drafted ? done({ round: round + 1, drafted, token: quoted(bonus.text) }) : null; // no draft at all is no success
  },
  length: ({ released }, _, beat) => {
    if (!released || released.length < beat.least) return null;
    const { length, run } = released;
    return done({ length, passes: run.rounds.length, wasted: run.rejected + run.discarded });
  },
  ended: ({ step, last }) => (step >= last ? done() : null),
};

/** What the visitor did, if it is what the beat waits for. */
export function whatWasDone(beat: Beat, doing: Doing, rounds: RoundPayload[]): string | null {
  const found = UNTIL[beat.until](doing, rounds, beat);
  return found && fill(beat.did[found.outcome] ?? "", found.facts);
}

function done(facts: Record<string, string | number> = {}, outcome: string = "done"): Done {
  return { outcome, facts };
}

