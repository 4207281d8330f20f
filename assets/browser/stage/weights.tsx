// Two pictures of a pass. The weights are read once, however many tokens it reads, and however many texts: there some places
// are empty because their text has ended. Beside it stand the measured times of passes.

import { milliseconds, times } from "../shared/numbers.js";
import { say, type Voice } from "./words.js";
import type { ComponentChildren } from "preact";
import type { PassPayload } from "../dist/payloads.js";
import type { Pictured } from "./diagram.js";

const PARTS: Array<[string, "products" | "attention" | "own_work" | "the_rest"]> = [["passes", "products"], ["left", "attention"], ["lost", "own_work"], ["later", "the_rest"]]; // how each part is drawn, and its name

/** `parts`: each with its kind and its share of the longest bar */
export function Bar({ name, parts, figure, class: look = "" }: { name: string; parts: Array<[string, number]>; figure: string; class?: string }) {
  return (
    <div class={look}>
      <span class="of">{name}</span>
      <span class="bar">{parts.map(([kind, share]) => share > 0 && <i class={`odds ${kind}`} style={{ width: `${100 * share}%` }} />)}<span>{figure}</span></span>
    </div>
  );
}

export function Weights({ lesson: { passes: measured }, said }: Pictured) {
  if (!measured) return null;
  const { tokens, passes } = measured;
  const whole = ({ ms }: PassPayload) => ms.reduce((sum, part) => sum + part, 0);
  const longest = Math.max(...passes.map(whole));
  const count = (number: number) => said(number === 1 ? "one_token" : "tokens_at_once", { tokens: number });
  const format = (dtype: string) => (dtype === "float32" || dtype === "bfloat16" ? said(dtype) : dtype);
  return (
    <div class="two">
      <div>
        {[1, tokens].map((number) => <Fetch said={said} once={said("read_once")}><span><span class="cells">{Array(number).fill(<i class="odds passes" />)}</span><small>{count(number)}</small></span></Fetch>)}
        {PARTS.map(([kind, name]) => <small class="key-of"><i class={`odds ${kind}`} />{said(name)}</small>)}
      </div>
      <div>
        {passes.map((pass) => (
          <Bar
            name={`${count(pass.tokens)}, ${format(pass.dtype)}`} parts={pass.ms.map((ms, part) => [PARTS[part][0], ms / longest])}
            figure={`${milliseconds(whole(pass))}${pass.tokens === 1 ? "" : `, ${times(pass.ratio)}`}`}
          />
        ))}
        <small>{said("weights_scale")}</small>
      </div>
    </div>
  );
}

/** A row of places for each text. Of texts that have ended the places are empty: as many rows as that is on average. */
export function Texts({ lesson: { batch }, said }: Pictured) {
  if (!batch) return null;
  const { texts, tokens, empty } = batch;
  const writing = texts - Math.round(empty * texts);
  const rows: Array<[string, number]> = [[said("one_of_each"), 1], [said("tokens_of_one", { tokens }), batch.alone], [said("tokens_of_texts", { texts, tokens }), batch.together]];
  const longest = Math.max(...rows.map(([, ratio]) => ratio));
  return (
    <div class="two">
      <div>
        <Fetch said={said} once={say("fetched_once")}>
          <span class="texts-of" style={{ gridTemplateColumns: `repeat(${tokens}, 1fr) auto`, gridTemplateRows: `repeat(${texts}, 0.7em)` }}>
            {Array.from({ length: texts * tokens }, (_, i) => <i class={i < writing * tokens ? "odds passes" : "odds later"} style={{ gridColumn: String(1 + (i % tokens)) }} />)}
            <small style={{ gridRow: `1 / ${writing + 1}` }}>{said("still_writing", { texts: writing })}</small>
            <small style={{ gridRow: `${writing + 1} / ${texts + 1}` }}>{said("have_ended", { texts: texts - writing })}</small>
          </span>
        </Fetch>
        <small>{`${rows[2][0]}: ${said("empty_places", { share: said("of_hundred", { number: Math.round(100 * empty) }) })}`}</small>
      </div>
      <div>{rows.map(([name, ratio]) => <Bar name={name} parts={[["passes", ratio / longest]]} figure={times(ratio)} />)}<small>{said("texts_scale")}</small></div>
    </div>
  );
}

/** The weights, and the one arrow out of them to what they are used for. */
function Fetch({ said, once, children }: { said: Voice; once: string; children: ComponentChildren }) {
  return <div class="fetch"><span class="box">{said("weights")}</span><span class="fetched"><small>{once}</small><i class="arrow" /></span>{children}</div>;
}
