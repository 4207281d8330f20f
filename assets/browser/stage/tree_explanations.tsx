// What the inspector says of a guess in a tree: how it stands among the guesses for its place, and why it was accepted, why it
// failed or why it was not taken.

import { MARKS } from "../shared/chips.js";
import { prob } from "../shared/numbers.js";
import { Said } from "../shared/said.js";
import { quoted } from "../shared/text.js";
import { ruleApplied } from "./facts.js";
import { siblingsOf } from "./tree.js";
import { say } from "./words.js";
import type { Chip, JudgedChip, RoundPayload, StagePayload, TreePayload } from "../dist/payloads.js";

function treeOf({ tree }: RoundPayload): TreePayload {
  if (!tree) throw new Error("This round has no tree");
  return tree;
}

/** A judged guess. */
export function guessInTree(data: StagePayload, round: RoundPayload, chip: JudgedChip, index: number) {
  return `${whyJudged(data, round, chip, index)} ${whatFollows(round, chip, index)}`.trim();
}

function whyJudged(data: StagePayload, round: RoundPayload, chip: JudgedChip, index: number) {
  const others = siblingsOf(treeOf(round), index);
  const failed = others.slice(0, others.indexOf(index)).map((other) => quoted(round.chips[other].text));
  if (data.greedy || !failed.length) return `${ruleApplied(data, chip)}.`;
  return say(`tree_after_failed_${chip.status}`, { failed: failed.join(", "), chance: prob(chip.accept_prob), u: prob(chip.u) });
}

/** After a failed guess: the next one for its place, or the target's own token. */
function whatFollows(round: RoundPayload, chip: JudgedChip, index: number) {
  if (chip.status === "accepted") return "";
  const tree = treeOf(round);
  const others = siblingsOf(tree, index);
  const next = others[others.indexOf(index) + 1];
  if (next !== undefined) return say("tries_next", { token: quoted(round.chips[next].text) });
  const own = round.chips.find((other) => other.status === "correction");
  return own ? say("no_guess_left", { token: quoted(own.text) }) : "";
}

/** All guesses for a place in one line, in the order in which the target tries them. */
export function Siblings({ round, index }: { round: RoundPayload; index: number }) {
  const others = round.tree ? siblingsOf(round.tree, index) : [];
  if (others.length < 2) return null;
  return (
    <p class="rule siblings">
      {say("guesses_here", { guesses: others.length })}{" "}
      {others.map((other) => {
        const Tag = other === index ? "b" : "span";
        return <><Tag class="sibling"><Said text={guess(round.chips[other])} /></Tag>{" "}</>;
      })}
    </p>
  );
}

function guess(chip: Chip) {
  const q = "q" in chip && chip.q !== null && chip.q !== 1 ? ` q ${prob(chip.q)}` : "";
  return `${MARKS[chip.status]} ${quoted(chip.text)}${q}`;
}

/** Which other guess, or the end of the text, decided that this one is never judged. */
export function whyNotTaken(round: RoundPayload, index: number) {
  const tree = treeOf(round);
  const parent = tree.parents[index];
  if (parent >= 0 && round.chips[parent].status !== "accepted") return whatWasLeft(round, parent);
  const taken = siblingsOf(tree, index).find((other) => round.chips[other].status === "accepted");
  if (taken !== undefined) return say("other_taken", { token: quoted(round.chips[taken].text) });
  return say("ended_before");
}

/** Why nothing after a guess could be taken: the first one on its path that is not in the text. */
function whatWasLeft(round: RoundPayload, node: number) {
  const tree = treeOf(round);
  let first = node;
  while (tree.parents[first] >= 0 && round.chips[tree.parents[first]].status !== "accepted") first = tree.parents[first];
  return say("follows_other", { token: quoted(round.chips[first].text) });
}
