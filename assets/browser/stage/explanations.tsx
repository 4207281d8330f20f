// What the inspector says of one token, by its status. Here: where the draft is judged token by token, and what is said
// before a judgement.

import { prob } from "../shared/numbers.js";
import { quoted, shorten, visible } from "../shared/text.js";
import { PairedBars, SingleBars, TargetBars } from "./bars.js";
import { blockToken } from "./block_explanations.js";
import { Facts, Rule, ruleApplied } from "./facts.js";
import { Siblings, guessInTree, whyNotTaken } from "./tree_explanations.js";
import { say } from "./words.js";
import type { Chip, DiscardedChip, JudgedChip, NotTakenChip, RoundPayload, StagePayload, TargetChip } from "../dist/payloads.js";

type Of<Kind extends Chip> = { data: StagePayload; round: RoundPayload; chip: Kind; index: number }; // index: of the chip in its round

/** A token whose round is judged. */
export function Judgement({ data, round, index }: Omit<Of<Chip>, "chip">) {
  const chip = round.chips[index];
  if (data.imported && (!("p" in chip) || chip.p === null)) return <Rule>{say("not_reported")}</Rule>;
  switch (chip.status) {
    case "accepted":
    case "rejected":
      return <Judged {...{ data, round, chip, index }} />;
    case "discarded":
      return <Discarded {...{ data, round, chip, index }} />;
    case "not taken":
      return <NotTaken {...{ data, round, chip, index }} />;
    case "correction":
      return <Correction {...{ data, round, chip, index }} />;
    case "bonus":
      return <OfTarget {...{ data, chip }} reason="bonus_token" />;
    case "own":
      return <OfTarget {...{ data, chip }} reason="own_token" />;
  }
}

/** A token that is proposed, or being checked. */
export function Proposed({ data, round, index }: Omit<Of<Chip>, "chip">) {
  return <><Siblings {...{ round, index }} /><Rule>{whatDraftThought(data, round, round.chips[index])}</Rule></>;
}

function whatDraftThought({ method, translated, point_mass: pointMass }: StagePayload, round: RoundPayload, chip: Chip) {
  const q = "q" in chip ? chip.q : null;
  if (method.certain) return method.certain;
  if (translated) return draftTokens(round);
  if (pointMass) return say("not_drawn");
  return q === null ? say("not_recorded_probabilities") : say("gives_q", { gives: method.gives, q: prob(q) });
}

function Judged({ data, round, chip, index }: Of<JudgedChip>) {
  const { translated } = data;
  if (chip.p === null || (chip.q === null && !translated)) return <Rule>{say("not_recorded_probabilities")}</Rule>;
  const bars = translated ? <TargetBars candidates={chip.candidates} /> : <PairedBars candidates={chip.candidates} />;
  if (round.tree) return <><Facts of={chip} data={data} /><Siblings {...{ round, index }} /><Rule>{guessInTree(data, round, chip, index)}</Rule>{bars}</>;
  const why = data.rule === "block" ? blockToken(round, chip, index) : whyJudged(data, round, chip);
  return <><Facts of={chip} data={data} />{bars}<Rule>{why}</Rule>{translated && <Rule>{draftTokens(round)}</Rule>}</>;
}

function whyJudged(data: StagePayload, round: RoundPayload, chip: JudgedChip) {
  const replacement = chip.status === "rejected" && round.chips.find((other) => other.status === "correction");
  const why = ruleApplied(data, chip);
  return replacement ? say("why_and_source", { why, source: sourceOf(replacement.text, data) }) : why;
}

function sourceOf(replacement: string, { greedy, point_mass: pointMass }: StagePayload) {
  return say(greedy ? "replaces_it" : pointMass ? "drawn_from_p" : "drawn_from_residual", { token: quoted(replacement) });
}

function Discarded({ data: { method, rule: how }, round, chip }: Of<DiscardedChip>) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const why = !rejected ? "never_judged_after_end" : how === "block" ? "dropped_with_block" : "never_judged";
  const gives = method.by_hand ? method.gives : say("draft_gave");
  return <><Rule>{say(why, { rejected: rejected ? quoted(rejected.text) : "" })}</Rule>{chip.q !== null && <Rule>{say("gives_q", { gives, q: prob(chip.q) })}</Rule>}</>;
}

/** A guess that was never judged, and its numbers: the pass read it like all others. */
function NotTaken({ data, round, chip: { p, q }, index }: Of<NotTakenChip>) {
  const why = <><Siblings {...{ round, index }} /><Rule>{whyNotTaken(round, index)}</Rule></>;
  if (p === null || q === null) return <>{why}<Rule>{say("not_recorded_probabilities")}</Rule></>;
  return <><Facts of={{ p, q }} data={data} />{why}</>;
}

function Correction({ data: { greedy, translated, rule: how, point_mass: pointMass }, round, chip }: Of<TargetChip>) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const place = round.tree ? say("none_passed") : rejected ? say("in_place_of", { rejected: quoted(rejected.text) }) : "";
  if (greedy) {
    return <>{translated ? <TargetBars candidates={chip.candidates} /> : <PairedBars candidates={chip.candidates} />}<Rule>{inOrder(place, say("greedy_own"))}</Rule></>;
  }
  const source = say(round.tree ? "drawn_from_left" : how === "block" ? "drawn_after_block" : pointMass ? "drawn_without_rejected" : "drawn_residual");
  if (!chip.residual.length) return <Rule>{inOrder(place, source, say("residual_not_recorded"))}</Rule>;
  const likely = chip.residual.some(([, , own]) => own);
  const unlikely = likely ? "" : say(chip.p === null ? "less_likely" : "less_likely_p", { p: prob(chip.p) });
  return <><SingleBars shares={chip.residual} distribution={say("residual")} /><Rule>{inOrder(place, source, unlikely)}</Rule></>;
}

/** Some of the sentences may be empty. */
function inOrder(...sentences: string[]) {
  return sentences.filter(Boolean).join(" ");
}

function OfTarget({ data: { greedy }, reason, chip: { p, candidates } }: { data: StagePayload; reason: "bonus_token" | "own_token"; chip: TargetChip }) {
  const source = greedy ? say("top_token") : say(p === null ? "from_p" : "from_p_p", { p: prob(p) });
  return (
    <>
      {candidates.length > 0 && <TargetBars candidates={candidates} />}
      <Rule>{say(reason, { source })}</Rule>
      {p === null && <Rule>{say("not_recorded_probabilities")}</Rule>}
    </>
  );
}

/** Why there is no q, and what the draft wrote instead. */
function draftTokens(round: RoundPayload) {
  return say("other_tokens", { tokens: shorten((round.draft_tokens ?? []).map(visible).join(" · "), 44) });
}
