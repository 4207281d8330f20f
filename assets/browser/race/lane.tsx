// One decoder on one prompt: a bar, its tokens as they were written, and a flag at its end.

import { useLayoutEffect, useRef } from "preact/hooks";
import { TokenText, memo } from "../shared/chips.js";
import { seconds } from "../shared/numbers.js";
import { say } from "./words.js";
import type { LanePayload, LapPayload } from "../dist/payloads.js";

export const LANES: Record<LanePayload["name"], string> = { speculative: say("speculative"), "target alone": say("target_alone") };

/** All lanes of a prompt as they were at this time. `at`: in ms */
export function Lap({ lap, at }: { lap: LapPayload; at: number }) {
  return (
    <article class="lap">
      <h2 class="lap-head"><b>{lap.name}</b> <bdi translate={false}>{lap.prompt}</bdi></h2>
      {lap.lanes.map((lane) => <Lane lane={lane} shown={shownAt(lane, at)} />)}
      <p class="spoken">{inWords(lap)}</p>
    </article>
  );
}

/** Steps on screen. */
function shownAt({ steps }: LanePayload, at: number) {
  const next = steps.findIndex(([when]) => when > at);
  return next < 0 ? steps.length : next;
}

const Lane = memo(({ lane: { name, tokens, end, flag, steps }, shown }: { lane: LanePayload; shown: number }) => {
  const box = useRef<HTMLDivElement>(null);
  const finished = shown === steps.length;
  const written = steps.slice(0, shown).flatMap(([, burst]) => burst);
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown]);
  return (
    <div class={`lane ${name === "speculative" ? "guessed" : "alone"}${finished ? ` finished${flag ? " winner" : ""}` : ""}`}>
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

/** A lap for a screen reader. */
function inWords(lap: LapPayload) {
  const lanes = lap.lanes.map(({ name, tokens, end, steps }) => say("lane", { name: LANES[name], tokens, time: seconds(end), steps: steps.length }));
  return `${lanes.join("; ")}. ${lap.result}.`;
}
