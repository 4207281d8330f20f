// The picture of one pass of the target: the last token and the guesses enter side by side, and out of each comes the
// token that the target expects after it. It is of the round at the playhead, in a greedy run.

import { Chip, MARKS, byTarget, className } from "../shared/chips.js";
import { visible } from "../shared/text.js";
import { say, type Voice } from "./words.js";
import type { Chip as Token, JudgedChip, StagePayload, TargetChip } from "../dist/payloads.js";
import type { Pictured } from "./diagram.js";

/** One place of the pass. */
interface Place {
  read: string;
  guess: Token | null; // that is read there; null: the text's last token
  expected: TargetChip | JudgedChip | null; // what the target expects after it; null after a wrong guess: there it is not used, and no run records it
  next: Token | null; // the guess that it is compared with, null after the last one
}

/** `index`: of the round */
export function placesOf({ rounds, prompt }: Pick<StagePayload, "rounds" | "prompt">, index: number): Place[] {
  const { chips } = rounds[index];
  const guesses = chips.filter((chip) => !byTarget(chip));
  const own = (chips.find(byTarget) as TargetChip | undefined) ?? null;
  const before = rounds[index - 1]?.chips.findLast((chip) => byTarget(chip) || chip.status === "accepted");
  return [null, ...guesses].map((guess, i) => {
    const place = { read: guess?.text ?? before?.text ?? prompt.tokens.at(-1) ?? "", guess, next: guesses[i] ?? null };
    if (place.next?.status === "accepted") return { ...place, expected: place.next };
    const used = place.next ? place.next.status === "rejected" : own?.status === "bonus";
    return { ...place, expected: used ? own : null };
  });
}

export function Pass({ data, at, phase, said }: Pictured) {
  const places = placesOf(data, at);
  return (
    <>
      <div class="places">
        {places.map(({ read, guess }, i) => <div class="place"><small>{i ? say("guess_number", { number: i }) : said("last_token")}</small>{guess ? <Chip of={guess} /> : <bdi class="chip read">{visible(read)}</bdi>}<i class="arrow down" /></div>)}
      </div>
      <div class={phase === "check" ? "box target active" : "box target"}><b>{said("pass_model")}</b><small>{said("pass_asks")}</small></div>
      <div class="places">
        {places.map((place, i) => (
          <div class="place">
            <i class="arrow down" />
            {phase === "judge" && place.expected ? <Chip of={place.expected} /> : <span class={phase === "propose" ? "chip unused to-come" : "chip unused"}>{phase === "judge" ? "⋯" : "?"}</span>}
            <small class={`judged ${className(place.expected?.status ?? "discarded")}`}>{compared(place, i + 1, said)}</small>
          </div>
        ))}
      </div>
    </>
  );
}

/** `number`: of the guess that stands at the next place */
function compared({ expected, next }: Place, number: number, said: Voice) {
  if (!expected) return say("not_used");
  if (!next) return said("the_bonus");
  return `${MARKS[next.status]} ${next.status === "rejected" ? say("guess_was", { number, wrong: visible(next.text) }) : say("guess_number", { number })}`;
}
