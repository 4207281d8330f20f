// What the inspector's explanations are made of: sentences, a token's numbers, the rule with these numbers in it.

import { prob } from "../shared/numbers.js";
import { Said } from "../shared/said.js";
import { quoted } from "../shared/text.js";
import { say } from "./words.js";
import type { ComponentChildren } from "preact";
import type { JudgedChip, StagePayload } from "../dist/payloads.js";

export function Rule({ children }: { children: string }) {
  return <p class="rule"><Said text={children} /></p>;
}

/** The rule with this guess's numbers in it. */
export function ruleApplied({ greedy, point_mass: pointMass }: StagePayload, { p, q, accept_prob: chance, u, status, candidates }: JudgedChip) {
  if (!greedy) return say(pointMass ? `sampled_sure_${status}` : `sampled_${status}`, { p: prob(p), q: prob(q), chance: prob(chance), u: prob(u) });
  if (!candidates.length) return say("greedy_rule");
  const [text, highest] = candidates.reduce((top, one) => (one[1] > top[1] ? one : top));
  return say(`greedy_${status}`, { top: quoted(text), p: prob(highest) });
}

type Numbers = Pick<JudgedChip, "p" | "q"> & Partial<Pick<JudgedChip, "accept_prob" | "u">>;

/** Target p, draft q; of a judged token the acceptance probability and the number drawn too. The swatches are the bars' key. */
export function Facts({ of: { p, q, accept_prob: chance, u }, data }: { of: Numbers; data: StagePayload }) {
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
