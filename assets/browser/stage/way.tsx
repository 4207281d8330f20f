// The picture of a round: draft model → target model → accept the start, correct the first error. The style sheet moves a token
// from column to column as the phase changes.

import { Chip, byTarget, className } from "../shared/chips.js";
import { depthsOf } from "./tree.js";
import { isPlain, say, type Voice } from "./words.js";
import type { Phase, RoundPayload, StagePayload } from "../dist/payloads.js";
import type { Pictured } from "./diagram.js";

type Column = "draft" | "target" | "text";

const COLUMNS: Column[] = ["draft", "target", "text"];
const ACTIVE: Record<Phase, Column> = { propose: "draft", check: "target", judge: "text" };
const MOST = 8; // tokens drawn; a longer draft says how many more there are

export function Way({ data, at, phase, said }: Pictured) {
  const round = data.rounds[at];
  const { chips, tree } = round;
  const guesses = chips.filter((chip) => !byTarget(chip));
  const shown = drawnGuesses(round, guesses.length);
  const under = { draft: said(howDrafted(round, data), { count: guesses.length }), target: said("under_target"), text: said(`under_text_${data.rule}`) };
  const own = chips.find(byTarget);
  const after = shown.findLastIndex((i) => guesses[i].status === "accepted") + 1; // a correction takes the next one's row
  const depths = tree ? depthsOf(tree) : [];
  const most = tree ? Math.max(...data.rounds.map((each) => each.tree?.parents.length ?? 0), 1) : data.draft_length;
  return (
    <>
      <Columns {...{ data, phase, said, under }} state={data.method.sees_state} />
      <div class="tokens-on-way" style={{ gridTemplateRows: `repeat(${Math.min(most, MOST) + 1}, 1.75em)` }}>
        {guesses.length > 0 && <small class="one-pass" style={{ gridRow: `1 / ${shown.length + 1}` }}>{said("one_pass")}</small>}
        {shown.map((i, row) => (
          <span key={i} class={`guess ${className(guesses[i].status)}`} style={{ gridRow: String(row + 1), "--i": String(row), paddingLeft: `${0.9 * (depths[i] ?? 0)}em` }}><Chip of={guesses[i]} /></span>
        ))}
        {own && <span class={`guess by-target ${own.status}`} style={{ gridRow: String(Math.min(after, MOST) + 1), "--i": "0" }}><Chip of={own} /></span>}
      </div>
      {guesses.length > MOST && <small>{say("and_more", { more: guesses.length - MOST })}</small>}
    </>
  );
}

type Heads = { data: StagePayload; phase: Phase; said: Voice; under: Record<Column, string>; last?: string; state?: boolean }; // last: another title of the last column

/** The boxes of both models and of the text, and the way from one to the next. */
export function Columns({ data, phase, said, under, last, state }: Heads) {
  const title = (name: Column) => (name === "text" && last) || (name === "draft" && !isPlain(data) && data.method.title) || said(`title_of_${name}`);
  return (
    <div class="columns">
      {COLUMNS.map((name, i) => (
        <>
          {i > 0 && <span class="between-boxes"><i class="arrow" />{i === 1 && state && <><i class="arrow state" /><small>{said("state")}</small></>}</span>}
          <div class={`box ${name}${ACTIVE[phase] === name ? " active" : ""}`}><b>{title(name)}</b><small>{under[name]}</small></div>
        </>
      ))}
    </div>
  );
}

function howDrafted({ tree }: RoundPayload, { method }: StagePayload) {
  if (tree) return "drafts_tree";
  return method.at_once ? "drafts_at_once" : "drafts_one_by_one";
}

/** The guesses that have a row: the first ones, and all that are accepted. Those of a tree stand as an outline. */
function drawnGuesses({ chips, tree }: RoundPayload, guesses: number) {
  const order = tree ? tree.rows.flat() : [...Array(guesses).keys()];
  const beyond = tree ? order.slice(MOST).filter((i) => chips[i].status === "accepted") : [];
  return [...order.slice(0, MOST - beyond.length), ...beyond];
}
