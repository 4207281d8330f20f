// The game's two pictures: the text so far, large, and a draft with its verification. A chip here is a chip of the stage.
// Text is only ever text.

import { STATUS_WORDS, drawRound } from "../shared/chips.js";
import { element, find, quoting, sentence } from "../shared/dom.js";
import { payloadOf, type Component } from "../shared/mounting.js";
import { percent } from "../shared/numbers.js";
import { quoted, visible } from "../shared/text.js";
import { applyScheme } from "../shared/theme.js";
import { say } from "./words.js";
import type { Fate, GuessPayload, PlayPayload, RivalPayload, TextPicture, TokenPayload, TurnPicture } from "../dist/payloads.js";

const FATES: Record<Fate, string> = { ...STATUS_WORDS, part: say("in_part") };
const INPUT = ".st-key-be_the_draft_guess input";
const SECOND = ".st-key-be_the_draft_second input";
const FOCUS_PATIENCE = 30_000; // ms: Streamlit draws the input later, on a busy machine much later

/** What a chat model was asked, and the name of what follows it. */
function drawAsked({ asked, label }: TextPicture) {
  const box = element("div", "asked-of-it");
  box.tabIndex = 0; // a long one scrolls
  for (const { name, text } of asked) {
    const message = element("p", "message", text);
    message.translate = false;
    box.append(element("p", "asked", name), message);
  }
  return [box, element("p", "asked", label)];
}

function drawText(picture: TextPicture) {
  const { asked, text, fresh, inside } = picture;
  const line = element("p", "so-far");
  line.translate = false;
  line.append(element("span", "", text));
  const word = fresh.trimStart();
  if (fresh) line.append(fresh.slice(0, fresh.length - word.length), element("mark", "fresh", word));
  line.append(element("span", "gap", inside ? "…" : " …"));
  return [...(asked.length ? drawAsked(picture) : []), line];
}

function drawTurn(turn: TurnPicture) {
  const parts: HTMLElement[] = [sentence("h2", "headline", turn.title)];
  if (turn.said) parts.push(sentence("p", "said", turn.said));
  turn.guesses.forEach((guess, number) => {
    if (guess.chips.length) parts.push(drawGuess(guess, turn.guesses.length > 1 ? say("guess", { number: number + 1 }) : ""));
  });
  if (turn.lines.length) parts.push(drawLines(turn.lines));
  const sides = element("div", "sides");
  if (turn.wants.length) sides.append(drawWants(turn));
  if (turn.rivals.length) sides.append(drawRivals(turn.rivals));
  return [...parts, sides];
}

/** A guess's chips, the pieces of one word held together, then the target's own token where it follows them. `name`: where there are two guesses */
function drawGuess({ chips, words }: GuessPayload, name: string) {
  const drawn = judged(chips);
  const row = element("div", "words-row");
  row.setAttribute("role", "img");
  const said = words.map(({ text, fate }) => `${visible(text)}: ${FATES[fate]}`).join("; ");
  row.setAttribute("aria-label", name ? `${name}: ${said}` : said);
  if (name) row.append(element("span", "guess-name", name));
  let next = 0;
  drawn.node.replaceChildren();
  for (const { pieces, fate } of words) {
    const word = element("span", `word ${fate.replace(" ", "-")}`);
    word.append(...drawn.chips.slice(next, (next += pieces)));
    drawn.node.append(word, " ");
  }
  drawn.node.append(...drawn.chips.slice(next));
  row.append(drawn.node);
  return row;
}

/** A judged round's chips to look at: no chip is a control. */
function judged(chips: TokenPayload[]) {
  const drawn = drawRound({ chips }, 0);
  drawn.node.dataset.phase = "judge";
  for (const node of [drawn.node, ...drawn.chips]) for (const name of ["role", "tabindex", "aria-label"]) node.removeAttribute(name);
  return drawn;
}

/** What the other drafters proposed at the same position. */
function drawRivals(rivals: RivalPayload[]) {
  const box = element("div", "rivals");
  box.append(element("p", "asked", say("rivals")));
  for (const { name, chips, more } of rivals) {
    const line = element("div", "words-row rival");
    const results = chips.map((chip) => `${visible(chip.text)}: ${STATUS_WORDS[chip.status]}`).join("; ");
    line.setAttribute("role", "img");
    line.setAttribute("aria-label", `${name}: ${results} (${more})`);
    line.append(element("span", "name", name), ...(chips.length ? [judged(chips).node, " "] : []), element("span", "more", more));
    box.append(line);
  }
  return box;
}

function drawLines(lines: string[]) {
  const list = element("ul", "lines");
  list.append(...lines.map((line) => sentence("li", "", line)));
  return list;
}

/** The target's most probable tokens where it decided itself, as bars. */
function drawWants({ wants, asked, mine: whose }: TurnPicture) {
  const box = element("div", "wants");
  box.append(element("p", "asked", asked));
  for (const [text, p, mine] of wants) {
    const line = element("div", mine ? "want mine" : "want");
    const bar = element("i", "share");
    bar.style.width = `${Math.max(0.5, 100 * p)}%`;
    const track = element("span", "track");
    track.append(bar);
    line.append(element("bdi", "", quoted(text)), track, element("span", "p", p < 0.01 ? "< 1 %" : percent(p)));
    if (mine) line.append(element("em", "", whose === "yours" ? say("yours") : say("theirs")));
    box.append(line);
  }
  return box;
}

/** Put the caret into the input, once Streamlit has drawn it, unless the visitor goes somewhere else or the game goes meanwhile. */
function focusInput(box: HTMLElement, since = performance.now(), at = document.activeElement) {
  const input: HTMLInputElement | null = document.querySelector(INPUT);
  if (input && !input.disabled) return void input.focus({ preventScroll: true });
  const here = [at, document.body].includes(document.activeElement); // what had the focus may be gone
  if (here && box.isConnected && performance.now() < since + FOCUS_PATIENCE) requestAnimationFrame(() => focusInput(box, since, at));
}

/** While the target reads, the typed text cannot be changed. */
function holdInput(busy: boolean) {
  const inputs: NodeListOf<HTMLInputElement> = document.querySelectorAll(`${INPUT}, ${SECOND}`);
  for (const input of inputs) input.readOnly = busy;
}

/** For a screen reader. The text is added a frame later: only a change is read out. */
function spoken(text: string) {
  const node = element("p", "spoken");
  node.setAttribute("role", "status");
  requestAnimationFrame(() => node.append(...quoting(text)));
  return node;
}

function draw(box: HTMLElement, data: PlayPayload) {
  const drawn = JSON.stringify(data);
  if (box.dataset.drawn === drawn) return;
  box.dataset.drawn = drawn;
  box.replaceChildren(...(data.kind === "text" ? drawText(data) : drawTurn(data)));
  if (data.kind === "turn" && data.spoken) box.append(spoken(data.title));
}

const focused: WeakMap<HTMLElement, string> = new WeakMap();

/** Focus the input once for each new request. Not on a touch screen: there it would open the keyboard. */
function focusOnce(box: HTMLElement, request: string) {
  if (!request || focused.get(box) === request) return;
  focused.set(box, request);
  if (matchMedia("(pointer: fine)").matches) focusInput(box);
}

export default function (component: Component<PlayPayload>) {
  const data = payloadOf(component);
  if (!data) return;
  const box = find(component.parentElement, ".play");
  applyScheme(box);
  box.setAttribute("aria-label", data.label);
  box.classList.toggle("text", data.kind === "text");
  draw(box, data);
  if (data.kind !== "text") return;
  holdInput(data.busy);
  focusOnce(box, data.focus);
}
