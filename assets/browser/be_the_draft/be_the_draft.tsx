// The game's two pictures: the text so far, large, and a draft with its verification. A chip here is a chip of the stage.
// Text is only ever text.

import { Fragment, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import GAME from "../../texts/browser/be_the_draft.json" with { type: "json" };
import { Chip, JudgedRound, STATUS_WORDS, Said, quoted, visible } from "../shared/chips.js";
import { applyScheme, find } from "../shared/dom.js";
import { sayer } from "../shared/fill.js";
import { payloadOf, type Component } from "../shared/mounting.js";
import { percent } from "../shared/numbers.js";
import type { Fate, GuessPayload, PlayPayload, RivalPayload, TextPicture, TurnPicture } from "../dist/payloads.js";

const say = sayer(GAME);
const FATES: Record<Fate, string> = { ...STATUS_WORDS, part: say("in_part") };
const INPUT = ".st-key-be_the_draft_guess input";
const SECOND = ".st-key-be_the_draft_second input";
const FOCUS_PATIENCE = 30_000; // ms: Streamlit draws the input later, on a busy machine much later

/** `asked`: what a chat model was asked; `label`: the name of what follows it. */
function Text({ asked, label, text, fresh, inside }: TextPicture) {
  const word = fresh.trimStart();
  return (
    <>
      {asked.length > 0 && (
        <>
          <div class="asked-of-it" tabIndex={0/* a long one scrolls */}>{asked.map(({ name, text }) => <><p class="asked">{name}</p><p class="message" translate={false}>{text}</p></>)}</div>
          <p class="asked">{label}</p>
        </>
      )}
      <p class="so-far" translate={false}>
        <span>{text}</span>
        {fresh && <>{fresh.slice(0, fresh.length - word.length)}<mark class="fresh">{word}</mark></>}
        <span class="gap">{inside ? "…" : " …"}</span>
      </p>
    </>
  );
}

function Turn({ title, said, guesses, lines, wants, asked, mine, rivals }: TurnPicture) {
  return (
    <>
      <h2 class="headline"><Said text={title} /></h2>
      {said && <p class="said"><Said text={said} /></p>}
      {guesses.map((guess, i) => guess.chips.length > 0 && <Guess {...guess} name={guesses.length > 1 ? say("guess", { number: i + 1 }) : ""} />)}
      {lines.length > 0 && <ul class="lines">{lines.map((line) => <li><Said text={line} /></li>)}</ul>}
      <div class="sides">
        {wants.length > 0 && (
          <div class="wants">{/* the target's most probable tokens where it decided itself, as bars */}
            <p class="asked">{asked}</p>
            {wants.map(([text, p, own]) => (
              <div class={own ? "want mine" : "want"}>
                <bdi translate={false}>{quoted(text)}</bdi>
                <span class="track"><i class="share" style={{ width: `${Math.max(0.5, 100 * p)}%` }} /></span>
                <span class="p">{p < 0.01 ? `< ${percent(0.01)}` : percent(p)}</span>
                {own && <em>{mine === "yours" ? say("yours") : say("theirs")}</em>}
              </div>
            ))}
          </div>
        )}
        {rivals.length > 0 && <Rivals rivals={rivals} />}
      </div>
    </>
  );
}

/** A guess's chips, the pieces of one word held together, then the target's own token where it follows them. `name`: where there are two guesses */
function Guess({ chips, words, name }: GuessPayload & { name: string }) {
  const said = words.map(({ text, fate }) => `${visible(text)}: ${FATES[fate]}`).join("; ");
  const drawn = chips.map((chip) => <Chip of={chip} />);
  const parts = words.map(({ pieces, fate }) => <><span class={`word ${fate.replace(" ", "-")}`}>{drawn.splice(0, pieces)}</span>{" "}</>);
  return (
    <div class="words-row" role="img" aria-label={name ? `${name}: ${said}` : said}>
      {name && <span class="guess-name">{name}</span>}
      <span class="round" data-phase="judge">{parts}{drawn}</span>
    </div>
  );
}

function Rivals({ rivals }: { rivals: RivalPayload[] }) {
  return (
    <div class="rivals">
      <p class="asked">{say("rivals")}</p>
      {rivals.map(({ name, chips, more }) => {
        const results = chips.map((chip) => `${visible(chip.text)}: ${STATUS_WORDS[chip.status]}`).join("; ");
        return (
          <div class="words-row rival" role="img" aria-label={`${name}: ${results} (${more})`}>
            <span class="name">{name}</span>{chips.length > 0 && <><JudgedRound chips={chips} />{" "}</>}<span class="more">{more}</span>
          </div>
        );
      })}
    </div>
  );
}

/** Put the caret into the input, once Streamlit has drawn it, unless the visitor goes somewhere else or the game goes meanwhile. */
function focusInput(box: HTMLElement, since = performance.now(), at = document.activeElement) {
  const input: HTMLInputElement | null = document.querySelector(INPUT);
  if (input && !input.disabled) return void input.focus({ preventScroll: true });
  const here = [at, document.body].includes(document.activeElement); // what had the focus may be gone
  if (here && box.isConnected && performance.now() < since + FOCUS_PATIENCE) requestAnimationFrame(() => focusInput(box, since, at));
}

/** For a screen reader. The text is added a frame later: only a change is read out. */
function Spoken({ text }: { text: string }) {
  const [said, say] = useState("");
  useEffect(() => say(text), [text]);
  return <p class="spoken" role="status"><Said text={said} /></p>;
}

const focused: WeakMap<HTMLElement, string> = new WeakMap(); // the request for which the input had the focus: once for each

export default function (component: Component<PlayPayload>) {
  const data = payloadOf(component);
  if (!data) return;
  const box = find(component.parentElement, ".play");
  applyScheme(box);
  box.setAttribute("aria-label", data.label);
  box.classList.toggle("text", data.kind === "text");
  const drawn = JSON.stringify(data);
  const picture = data.kind === "text" ? <Text {...data} /> : <><Turn {...data} />{data.spoken && <Spoken text={data.title} />}</>;
  if (box.dataset.drawn !== drawn) render(<Fragment key={drawn}>{picture}</Fragment>, box);
  box.dataset.drawn = drawn;
  if (data.kind !== "text") return;
  for (const input of document.querySelectorAll<HTMLInputElement>(`${INPUT}, ${SECOND}`)) input.readOnly = data.busy; // while the target reads, it cannot be changed
  if (!data.focus || focused.get(box) === data.focus) return;
  focused.set(box, data.focus);
  if (matchMedia("(pointer: fine)").matches) focusInput(box); // on a touch screen it would open the keyboard
}
