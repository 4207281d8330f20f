// Why one token was accepted or not: both models' candidates as bars, and the rule with this token's numbers in it.

import { render, type ComponentChildren } from "preact";
import { MARKS, Said, partOfCharacter, quoted, shorten, visible } from "../shared/chips.js";
import { prob } from "../shared/numbers.js";
import { siblingsOf } from "./tree.js";
import { nameOf, say } from "./words.js";
import type { CandidateRow, ChipStatus, JudgedChip, RoundPayload, StagePayload } from "../dist/payloads.js";
import type { Place } from "./strip.js";

type Of = { data: StagePayload; round: RoundPayload; index: number }; // index: of the chip in its round

const NAME_LENGTH = 12; // characters of a candidate
const OWN_LENGTH = 44; // characters of a draft's own tokens

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
    const { data } = this;
    if (!data || this.shown === state) return;
    this.shown = state;
    render(null, this.panel); // anew: a browser may have translated what is there
    const whole = data.rule === "tree" && data.greedy ? "rule_greedy_tree" : data.greedy ? "rule_greedy" : (`rule_${data.rule}` as const);
    const of = place && { data, round: data.rounds[place.round], index: place.index };
    const chip = of?.round.chips[of.index];
    const cut = chip && partOfCharacter(chip.text);
    const told = !chip || !judged ? "is_a_guess" : data.rule === "block" && chip.status === "discarded" ? "was_discarded" : (`title_${nameOf(chip.status)}` as const);
    const title = place && chip ? say("title_in_round", { title: say(told, { token: quoted(chip.text) }), round: place.round + 1 }) : say("the_rule");
    render(
      <>
        <div class="head">
          <div class="title"><Said text={title} /></div>
          {pinned && <button type="button" class="unpin" aria-label={say("follow_again")} title={say("follow_again")} onClick={this.closed}>×</button>}
        </div>
        {!of ? <Rule>{say(whole)}</Rule> : judged ? <Judgement {...of} /> : <><Siblings {...of} /><Rule>{whatDraftThought(of)}</Rule></>}
        {cut && <Rule>{cut}</Rule>}
      </>,
      this.panel,
    );
  }

  /** The same as text, for the live region. */
  get text() {
    return [...this.panel.querySelectorAll(".title, .rule")].map((node) => node.textContent).join(". ");
  }
}

function Rule({ children }: { children: string }) {
  return <p class="rule"><Said text={children} /></p>;
}

/** A token that is proposed, or being checked. */
function whatDraftThought({ data: { method, translated, point_mass: pointMass }, round, index }: Of) {
  const chip = round.chips[index];
  const q = "q" in chip ? chip.q : null;
  if (method.certain) return method.certain;
  if (translated) return draftTokens(round);
  if (pointMass) return say("not_drawn");
  return q === null ? say("not_recorded_probabilities") : say("gives_q", { gives: method.gives, q: prob(q) });
}

/** A token whose round is judged. */
function Judgement({ data, round, index }: Of) {
  const { greedy, method, point_mass: pointMass, rule, translated } = data;
  const chip = round.chips[index];
  const rejected = named(round, "rejected");
  const unknown = <Rule>{say("not_recorded_probabilities")}</Rule>;
  const bars = (candidates: CandidateRow[]) => <Bars rows={candidates} of={translated ? say("target") : undefined} />;
  if (data.imported && (!("p" in chip) || chip.p === null)) return <Rule>{say("not_reported")}</Rule>;
  switch (chip.status) {
    case "accepted":
    case "rejected":
      if (chip.p === null || (chip.q === null && !translated)) return unknown;
      if (round.tree) return <><Facts of={chip} data={data} /><Siblings {...{ data, round, index }} /><Rule>{guessInTree(data, round, chip, index)}</Rule>{bars(chip.candidates)}</>;
      return <><Facts of={chip} data={data} />{bars(chip.candidates)}<Rule>{rule === "block" ? blockToken(round, chip, index) : whyJudged(data, round, chip)}</Rule>{translated && <Rule>{draftTokens(round)}</Rule>}</>;
    case "discarded": {
      const why = !rejected ? "never_judged_after_end" : rule === "block" ? "dropped_with_block" : "never_judged";
      const gives = method.by_hand ? method.gives : say("draft_gave");
      return <><Rule>{say(why, { rejected })}</Rule>{chip.q !== null && <Rule>{say("gives_q", { gives, q: prob(chip.q) })}</Rule>}</>;
    }
    case "not taken": { // the pass read it like all others
      const why = <><Siblings {...{ data, round, index }} /><Rule>{whyNotTaken(round, index)}</Rule></>;
      return chip.p === null || chip.q === null ? <>{why}{unknown}</> : <><Facts of={chip} data={data} />{why}</>;
    }
    case "correction": {
      const place = round.tree ? say("none_passed") : rejected ? say("in_place_of", { rejected }) : "";
      const own = translated ? undefined : chip.candidates.find(([, , , its]) => its);
      if (greedy) return <>{own && <Facts of={{ p: own[1], q: own[2] }} data={data} />}{bars(chip.candidates)}<Rule>{`${place} ${say("greedy_own")}`.trim()}</Rule></>;
      const source = say(round.tree ? "drawn_from_left" : rule === "block" ? "drawn_after_block" : pointMass ? "drawn_without_rejected" : "drawn_residual");
      const likely = chip.residual.some(([, , own]) => own);
      const rare = !chip.residual.length ? say("residual_not_recorded") : likely ? "" : say(chip.p === null ? "less_likely" : "less_likely_p", { p: prob(chip.p) });
      return <>{chip.residual.length > 0 && <Bars rows={chip.residual.map(([text, share, own]) => [text, share, null, own])} of={say("residual")} />}<Rule>{[place, source, rare].filter(Boolean).join(" ")}</Rule></>;
    }
    default: {
      const source = greedy ? say("top_token") : say(chip.p === null ? "from_p" : "from_p_p", { p: prob(chip.p) });
      return <>{chip.candidates.length > 0 && <Bars rows={chip.candidates} of={say("target")} />}<Rule>{say(`${chip.status}_token`, { source })}</Rule>{chip.p === null && unknown}</>;
    }
  }
}

/** The round's token of this status, quoted; empty where there is none. */
function named({ chips }: RoundPayload, status: ChipStatus) {
  const found = chips.find((chip) => chip.status === status);
  return found ? quoted(found.text) : "";
}

/** Why there is no q, and what the draft wrote instead. */
function draftTokens(round: RoundPayload) {
  return say("other_tokens", { tokens: shorten((round.draft_tokens ?? []).map(visible).join(" · "), OWN_LENGTH) });
}

function whyJudged(data: StagePayload, round: RoundPayload, chip: JudgedChip) {
  const why = ruleApplied(data, chip);
  const token = named(round, "correction");
  if (chip.status === "accepted" || !token) return why;
  return say("why_and_source", { why, source: say(data.greedy ? "replaces_it" : data.point_mass ? "drawn_from_p" : "drawn_from_residual", { token }) });
}

/** The rule with this guess's numbers in it. */
function ruleApplied({ greedy, point_mass: pointMass }: StagePayload, { p, q, accept_prob: chance, u, status, candidates }: JudgedChip) {
  if (!greedy) return say(pointMass ? `sampled_sure_${status}` : `sampled_${status}`, { p: prob(p), q: prob(q), chance: prob(chance), u: prob(u) });
  if (!candidates.length) return say("greedy_rule");
  const [text, highest] = candidates.reduce((top, one) => (one[1] > top[1] ? one : top));
  return say(`greedy_${status}`, { top: quoted(text), p: prob(highest) });
}

/**
 * Why a token is in the accepted block, or the first one after it: one can be accepted although the block that ends with it
 * failed, because a longer one passed.
 */
export function blockToken(round: RoundPayload, chip: JudgedChip, index: number) {
  const passes = chip.u !== null && chip.accept_prob !== null && chip.u < chip.accept_prob;
  const figures = { u: prob(chip.u), chance: prob(chip.accept_prob) };
  const own = named(round, "correction");
  if (chip.status === "rejected") return say(own ? "no_block_replaced" : "no_block", { ...figures, own });
  const last = round.chips.findLastIndex((other) => other.status === "accepted");
  return say(!passes ? "block_failed" : index < last ? "block_passed" : "block_longest", figures);
}

/** A judged guess: why, and after a failed one the next one for its place, or the target's own token. */
function guessInTree(data: StagePayload, round: RoundPayload, chip: JudgedChip, index: number) {
  const others = round.tree ? siblingsOf(round.tree, index) : [];
  const failed = others.slice(0, others.indexOf(index)).map((other) => quoted(round.chips[other].text));
  const drawn = () => say(`tree_after_failed_${chip.status}`, { failed: failed.join(", "), chance: prob(chip.accept_prob), u: prob(chip.u) });
  const why = data.greedy || !failed.length ? `${ruleApplied(data, chip)}.` : drawn();
  if (chip.status === "accepted") return why;
  const next = others[others.indexOf(index) + 1];
  const own = named(round, "correction");
  if (next !== undefined) return `${why} ${say("tries_next", { token: quoted(round.chips[next].text) })}`;
  return own ? `${why} ${say("no_guess_left", { token: own })}` : why;
}

/** Which other guess, or the end of the text, decided that this one is never judged. */
export function whyNotTaken({ chips, tree }: RoundPayload, index: number) {
  if (!tree) throw new Error("This round has no tree");
  const isOut = (node: number) => node >= 0 && chips[node].status !== "accepted";
  const taken = siblingsOf(tree, index).find((other) => chips[other].status === "accepted");
  let first = tree.parents[index];
  if (!isOut(first)) return taken === undefined ? say("ended_before") : say("other_taken", { token: quoted(chips[taken].text) });
  while (isOut(tree.parents[first])) first = tree.parents[first]; // on its path, the first one that is not in the text
  return say("follows_other", { token: quoted(chips[first].text) });
}

/** All guesses for a place in one line, in the order in which the target tries them. */
function Siblings({ round: { chips, tree }, index }: Of) {
  const others = tree ? siblingsOf(tree, index) : [];
  if (others.length < 2) return null;
  return (
    <p class="rule siblings">
      {say("guesses_here", { guesses: others.length })}{" "}
      {others.map((other) => {
        const [chip, Tag] = [chips[other], other === index ? "b" : "span"] as const;
        const q = "q" in chip && chip.q !== null && chip.q !== 1 ? ` q ${prob(chip.q)}` : "";
        return <><Tag class="sibling"><Said text={`${MARKS[chip.status]} ${quoted(chip.text)}${q}`} /></Tag>{" "}</>;
      })}
    </p>
  );
}

type Numbers = Pick<JudgedChip, "p" | "q"> & Partial<Pick<JudgedChip, "accept_prob" | "u">>;

/** Target p, draft q; of a judged token the acceptance probability and the number drawn too. The swatches are the bars' key. */
function Facts({ of: { p, q, accept_prob: chance, u }, data }: { of: Numbers; data: StagePayload }) {
  const meaning = say(data.greedy ? "before_sampling" : "after_sampling");
  return (
    <dl class="facts">
      <Fact swatch="target" value={prob(p)}><Explained id="target-p" name={say("target_p")} meaning={meaning} /></Fact>
      <Fact swatch="draft" value={prob(q)}><Explained id="draft-q" name={say("draft_q")} meaning={data.point_mass ? say("q_is_one") : meaning} /></Fact>
      {chance !== undefined && data.greedy && <Fact value={say(chance ? "yes" : "no")}>{say("first_choice")}</Fact>}
      {chance !== undefined && !data.greedy && <><Fact value={prob(chance)}>{say("chance")}</Fact><Fact value={prob(u)}>{say("drew_u")}</Fact></>}
    </dl>
  );
}

function Fact({ swatch, value, children }: { swatch?: string; value: string; children: ComponentChildren }) {
  return <div class={swatch}><dt>{children}</dt><dd>{value}</dd></div>;
}

/** A name that explains itself on hover, focus and tap. */
function Explained({ id, name, meaning }: { id: string; name: string; meaning: string }) {
  return <><button type="button" class="term" aria-describedby={`tip-${id}`}>{name}</button><span class="tip" role="tooltip" id={`tip-${id}`}>{meaning}</span></>;
}

/** Candidates as bars: both models' probabilities, or one distribution of that name. */
function Bars({ rows, of }: { rows: CandidateRow[]; of?: string }) {
  if (!rows.length && !of) return <Rule>{say("candidates_not_recorded")}</Rule>;
  return (
    <ul class={of ? "bars" : "bars paired"}>
      {rows.map(([text, p, q, own]) => (
        <li class={own ? "own" : ""} title={of ? `${of} ${prob(p)}` : say("candidate", { p: prob(p), q: prob(q) })}>
          <bdi class="name" translate={false}>{shorten(visible(text), NAME_LENGTH)}</bdi>
          {[p, ...(of ? [] : [q ?? 0])].map((share, i) => (
            <span class={i ? "bar draft" : "bar target"}><i style={{ width: `${(share * 100).toFixed(2)}%` }} /><span>{prob(share)}</span></span>
          ))}
        </li>
      ))}
    </ul>
  );
}
