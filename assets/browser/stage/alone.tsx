// The picture of the target alone: one pass for one token, which is read before the next pass; and the lane of all its
// passes, each as long as it took.

import { visible } from "../shared/text.js";
import { say } from "./words.js";
import type { StagePayload } from "../dist/payloads.js";
import type { Pictured } from "./diagram.js";

const SPECIAL = /^<.+>$/; // a special token, not a part of the text that a person wrote
const END = 60; // characters of the text so far, where there is room

/** The text before a pass, and the token that the pass writes. `index`: of the pass */
export function writtenAt({ rounds, prompt }: Pick<StagePayload, "rounds" | "prompt">, index: number) {
  const tokens = [...prompt.tokens.filter((text) => !SPECIAL.test(text)), ...rounds.slice(0, index).map(({ chips }) => chips[0].text)];
  return { before: tokens.join(""), token: rounds[index].chips[0].text };
}

export function Alone({ data, at, said }: Pictured) {
  const { before, token } = writtenAt(data, at);
  const { rounds } = data;
  const whole = rounds[rounds.length - 1].ms[3];
  const middle = (50 * (rounds[at].ms[0] + rounds[at].ms[3])) / whole;
  return (
    <>
      <div class="loop">
        <small>{say("text_so_far")}</small><small>{said("alone_next")}</small>
        <span class="box"><bdi>{[...before].slice(-END).join("")}</bdi></span><i class="arrow" />
        <span class="box target"><b>{said("alone_model")}</b></span><i class="arrow" />
        <span class="box made"><bdi>{visible(token)}</bdi></span>
        <small class="again">{said("alone_back")}</small>
      </div>
      <p class="ends"><small>{said("alone_lane")}</small><small>{`${whole.toFixed(0)} ms`}</small></p>
      <div class="all-passes">{rounds.map(({ ms }, i) => <i class={`odds ${i < at ? "target" : i === at ? "passes" : "later"}`} style={{ flexGrow: String(ms[3] - ms[0]) }} />)}</div>
      <b class="at" style={{ marginLeft: `clamp(0em, ${middle}% - 2em, 100% - 4em)` }}>{said("alone_pass", { number: at + 1 })}</b>
    </>
  );
}
