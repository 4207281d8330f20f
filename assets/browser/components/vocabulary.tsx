// The vocabulary: each word with its sentence, a picture from a recorded run, and where to see it in a run. A chip here is
// a chip of the stage. Text is only ever text.

import { render } from "preact";
import { JudgedRound } from "../shared/chips.js";
import { applyScheme, find } from "../shared/dom.js";
import { payloadOf, type Component } from "../shared/mounting.js";
import { milliseconds } from "../shared/numbers.js";
import { say } from "./words.js";
import type { EntryPayload, TimesPicture, VocabularyPayload } from "../dist/payloads.js";

const OWN_PAGE = /^\.\/[a-z]*\?/;
const LONGEST_BAR = 50; // per cent of the line

function Entry({ of: { id, name, symbol, text, picture, figure, link } }: { of: EntryPayload }) {
  return (
    <article class="entry">
      <div class="head"><h3 id={`word-${id}`}>{name}</h3>{symbol && <span class="symbol">{symbol}</span>}</div>
      <p>{text}</p>
      {picture?.kind === "round" && <div class="picture"><JudgedRound chips={picture.chips} ringed={picture.ringed} role="img" aria-label={picture.alt} /></div>}
      {picture?.kind === "times" && <Times {...picture} />}
      {figure && <p class="figure">{figure}</p>}
      <a href={OWN_PAGE.test(link) ? link : "./learn"} target="_self" aria-label={say("see_word", { name })}>{say("see")}</a>
    </article>
  );
}

function Times({ bars, alt }: TimesPicture) {
  const longest = Math.max(...bars.map(([, ms]) => ms), 1e-9);
  return (
    <div class="picture times" role="img" aria-label={alt}>
      {bars.map(([name, ms, kind]) => (
        <div class="line">
          <span class="of">{name}</span><i class={`key ${kind}`} style={{ width: `${Math.max(1, (LONGEST_BAR * ms) / longest)}%` }} /><span class="ms">{milliseconds(ms)}</span>
        </div>
      ))}
    </div>
  );
}

export default function (component: Component<VocabularyPayload>) {
  const data = payloadOf(component);
  if (!data) return;
  const box = find(component.parentElement, ".words");
  applyScheme(box);
  render(data.words.map((word) => <Entry of={word} key={word.text} />), box);
}
