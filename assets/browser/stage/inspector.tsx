// Why one token was accepted or not: both models' candidates as bars, and the rule with this token's numbers in it.

import { render } from "preact";
import { Said } from "../shared/said.js";
import { partOfCharacter, quoted } from "../shared/text.js";
import { Judgement, Proposed } from "./explanations.js";
import { Rule } from "./facts.js";
import { nameOf, say } from "./words.js";
import type { Chip, StagePayload } from "../dist/payloads.js";
import type { Place } from "./strip.js";

type Shown = { data: StagePayload; place: Place; judged: boolean; close: (() => void) | null };

export class Inspector {
  data: StagePayload | null = null;
  shown: string | null | undefined = undefined; // undefined: nothing yet; null: the rule

  constructor(public panel: HTMLElement, public closed: () => void) {}

  load(data: StagePayload) {
    this.data = data;
    this.shown = undefined;
  }

  /** The rule where there is no place. `judged`: whether the playhead has passed its judgement. `pinned`: whether the visitor chose it */
  show(place: Place | null, judged: boolean, pinned: boolean) {
    const state = place && `${place.round} ${place.index} ${judged} ${pinned}`;
    if (!this.data || this.shown === state) return;
    this.shown = state;
    const { data, closed } = this;
    render(null, this.panel); // anew: a browser may have translated what is there
    render(place ? <Explanation {...{ data, place, judged }} close={pinned ? closed : null} /> : <TheRule data={data} />, this.panel);
  }

  /** The same as text, for the live region. */
  get text() {
    return [...this.panel.querySelectorAll(".title, .rule")].map((node) => node.textContent).join(". ");
  }
}

function Explanation({ data, place, judged, close }: Shown) {
  const round = data.rounds[place.round];
  const { index } = place;
  const chip = round.chips[index];
  const title = judged ? titleOf(chip, data.rule) : say("is_a_guess", { token: quoted(chip.text) });
  const cut = partOfCharacter(chip.text);
  return (
    <>
      <Heading title={say("title_in_round", { title, round: place.round + 1 })} close={close} />
      {judged ? <Judgement {...{ data, round, index }} /> : <Proposed {...{ data, round, index }} />}
      {cut && <Rule>{cut}</Rule>}
    </>
  );
}

function Heading({ title, close = null }: { title: string; close?: Shown["close"] }) {
  return (
    <div class="head">
      <div class="title"><Said text={title} /></div>
      {close && <button type="button" class="unpin" aria-label={say("follow_again")} title={say("follow_again")} onClick={close}>×</button>}
    </div>
  );
}

function titleOf({ status, text }: Chip, how: StagePayload["rule"]) {
  const token = quoted(text);
  return how === "block" && status === "discarded" ? say("was_discarded", { token }) : say(`title_${nameOf(status)}`, { token });
}

/** Before any token is judged. */
function TheRule({ data: { greedy, rule: how } }: { data: StagePayload }) {
  const words = !greedy ? say(`rule_${how}`) : say(how === "tree" ? "rule_greedy_tree" : "rule_greedy");
  return <><Heading title={say("the_rule")} /><Rule>{words}</Rule></>;
}
