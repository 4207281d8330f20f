// What stands above the tokens: the result and why, the round and what happens in it, where the figures are from. Each text is
// an element of its own, made again where it changes: a browser may have translated what is there.

import { render, type HTMLAttributes } from "preact";
import { find } from "../shared/dom.js";
import { Said } from "../shared/chips.js";
import { explained, outcomeOf, type Outcome } from "./result.js";
import { progress, say } from "./words.js";
import type { StagePayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";
import type { Replay } from "./replay.js";

const LONG_CHANGE = 170; // characters that fit one line in usual letters

export class Top {
  result = find(this.stage, ".result");
  now = find(this.stage, ".now");
  spoken = find(this.stage, ".spoken");
  place = "";

  constructor(public stage: HTMLElement, public playhead: Playhead, public replay: Replay) {}

  show(data: StagePayload) {
    const { stage, playhead, replay } = this;
    const outcome = outcomeOf(data, replay.wanted, playhead.over);
    stage.dataset.run = data.run_id; // for tests, and for scripts that drive the page
    stage.dataset.rounds = String(data.rounds.length);
    stage.toggleAttribute("data-done", !data.running);
    stage.toggleAttribute("data-result", outcome !== null);
    stage.toggleAttribute("data-doubt", outcome?.doubted ?? false);
    if (outcome) this.#showOutcome(outcome);
    for (const label of stage.querySelectorAll(".measured")) label.setAttribute("title", data.measured);
    const { round, substep } = playhead;
    const of = () => say("round_of", { round: round + 1, rounds: data.more ? "…" : data.rounds.length });
    const [number, sentence] = replay.shown ? replay.wordsOf(replay.shown) : data.rounds[round] ? [of(), data.rounds[round].sentences[substep]] : ["", data.idle];
    const waits = playhead.waiting && !replay.shown && data.rounds.length > 0;
    const [note, notice] = [replay.note, replay.shown ? data.notice : replay.note || data.notice];
    render(
      <>
        <Text as="strong" class="round-number" text={number} />
        <span class="sentence" key={sentence}>{sentence}{waits && <> <span class="waits">{say("waiting")}</span></>}</span>
        <Text class="notice" text={data.rounds.length ? (notice ?? "") : ""} title={notice ?? ""} />
        <Text class="caption" text={captionOf(data, playhead)} />
        <Text class="badge" text={replay.shown ? say("modelled_badge") : data.badge} title={note || data.measured} />
      </>,
      this.now,
    );
    const place = `${number}. ${sentence}${waits ? ` ${say("waiting")}` : ""}`;
    if (playhead.playing || place === this.place) return; // a place that was said is not said again where the page is drawn again
    this.place = place;
    this.say(place);
  }

  #showOutcome({ says, when, same, reason, equation, change, source }: Outcome) {
    const tips = Object.entries(equation?.tips ?? {});
    render(
      <>
        <p class="says"><Text as="strong" text={says} /> <Text class="when" text={when} /></p>
        <p class="reason" title={`${reason} (${source})` /* the line may be cut */}>
          {equation && <><span class="equation" key={JSON.stringify(equation.pieces)}>{equation.pieces.map(({ part, words }) => (part ? <Term words={words} tip={`tip-${part}`} /> : words))}</span>{" "}</>}
          <span key={reason}>{explained(reason).map(({ words, tip }) => (tip ? <Term words={words} tip={tip} /> : words))}</span>
        </p>
        {[...tips, ["judged", say("tip_judged")], ["calibrated", say("tip_calibrated")]].map(([name, text]) => <Text class="tip" role="tooltip" id={`tip-${name}`} text={text} />)}
      </>,
      this.result,
    );
    const [its, line] = [find(this.stage, ".same"), find(this.stage, ".change")];
    its.textContent = its.title = same;
    line.textContent = line.title = change;
    line.classList.toggle("long", change.length > LONG_CHANGE);
  }

  /** For screen readers; silent while playing. */
  say(text: string) {
    render(<span key={text}><Said text={text} /></span>, this.spoken);
  }
}

function captionOf(data: StagePayload, { round, substep, done }: Playhead) {
  const current = data.rounds[round];
  if (!current) return "";
  const emitted = done ? data.rounds[done - 1].after.emitted : 0;
  const total = data.more ? Infinity : (data.rounds.at(-1)?.after.emitted ?? Infinity);
  const made = progress(data, emitted, done, current.alone?.[substep], total);
  return data.timed ? made : say("untimed", { progress: made });
}

function Text({ as: Tag = "span", text, ...others }: HTMLAttributes<HTMLElement> & { as?: "span" | "strong"; text: string }) {
  return <Tag key={text} {...others}>{text}</Tag>;
}

/** No button element: WebKit counts its line as one more of the reason, and cuts the reason. `tip`: the id of its explanation */
function Term({ words, tip }: { words: string; tip: string }) {
  return <span class="term" tabIndex={0} role="button" aria-describedby={tip}>{words}</span>;
}
