// The game's two pictures: the text so far, large, and what became of a draft.
// A chip here is a chip of the stage. Text is only ever text.

import { STATUS_WORDS, drawRound } from "../shared/chips.js";
import { element } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { quoted, visible } from "../shared/text.js";
import { applyScheme } from "../shared/theme.js";

const FATES = { part: "accepted in part", accepted: "accepted", rejected: "rejected", discarded: "discarded, never judged" };
const FOCUS_TRIES = 120; // frames: the input is drawn by Streamlit, a little after us

function drawText({ text, fresh, inside }) {
  const line = element("p", "so-far");
  line.append(element("span", "", text));
  const space = fresh.match(/^\s*/)[0];
  if (fresh) line.append(space, element("mark", "fresh", fresh.slice(space.length)));
  line.append(element("span", "gap", inside ? "…" : " …"));
  return [line];
}

function drawTurn(turn) {
  const parts = [element("h3", "headline", turn.title)];
  if (turn.said) parts.push(element("p", "said", turn.said));
  if (turn.chips.length) parts.push(drawWords(turn));
  if (turn.lines.length) parts.push(drawLines(turn.lines));
  const sides = element("div", "sides");
  if (turn.wants.length) sides.append(drawWants(turn));
  if (turn.rivals.length) sides.append(drawRivals(turn.rivals));
  return [...parts, sides];
}

/** The draft's chips, the pieces of one word held together, then the target's own token. */
function drawWords({ chips, words }) {
  const drawn = judged(chips);
  const row = element("div", "words-row");
  row.setAttribute("role", "img");
  row.setAttribute("aria-label", words.map(({ text, fate }) => `${visible(text)}: ${FATES[fate]}`).join("; "));
  let next = 0;
  drawn.node.replaceChildren();
  for (const { pieces, fate } of words) {
    const word = element("span", `word ${fate}`);
    word.append(...drawn.chips.slice(next, (next += pieces)));
    drawn.node.append(word, " ");
  }
  drawn.node.append(...drawn.chips.slice(next));
  row.append(drawn.node);
  return row;
}

/** A judged round's chips to look at, none of them a control. */
function judged(chips) {
  const drawn = drawRound({ chips }, 0);
  drawn.node.dataset.phase = "judge";
  for (const node of [drawn.node, ...drawn.chips]) for (const name of ["role", "tabindex", "aria-label"]) node.removeAttribute(name);
  return drawn;
}

/** What the other two drafted at the same place. */
function drawRivals(rivals) {
  const box = element("div", "rivals");
  box.append(element("p", "asked", "What the others drafted there:"));
  for (const { name, chips, more } of rivals) {
    const line = element("div", "words-row rival");
    const fates = chips.map((chip) => `${visible(chip.text)}: ${STATUS_WORDS[chip.status]}`).join("; ");
    line.setAttribute("role", "img");
    line.setAttribute("aria-label", `${name}: ${fates} (${more})`);
    line.append(element("span", "name", name), ...(chips.length ? [judged(chips).node, " "] : []), element("span", "more", more));
    box.append(line);
  }
  return box;
}

function drawLines(lines) {
  const list = element("ul", "lines");
  list.append(...lines.map((line) => element("li", "", line)));
  return list;
}

/** The target's favourites where it decided itself, as bars. */
function drawWants({ wants, asked, mine: whose }) {
  const box = element("div", "wants");
  box.append(element("p", "asked", asked));
  for (const [text, p, mine] of wants) {
    const line = element("div", mine ? "want mine" : "want");
    const bar = element("i", "share");
    bar.style.width = `${Math.max(0.5, 100 * p)}%`;
    const track = element("span", "track");
    track.append(bar);
    line.append(element("bdi", "", quoted(text)), track, element("span", "p", p < 0.01 ? "< 1 %" : percent(p)));
    if (mine) line.append(element("em", "", whose));
    box.append(line);
  }
  return box;
}

/** Put the caret where one types, unless that would bring up a phone's keyboard or take it from another control. */
function focusInput(tries = FOCUS_TRIES) {
  const input = document.querySelector(".st-key-play_guess input");
  if (input && !input.disabled) return void input.focus({ preventScroll: true });
  if (tries) requestAnimationFrame(() => focusInput(tries - 1));
}

/** While the target reads, what was typed is kept as it is. */
function holdInput(busy) {
  const input = document.querySelector(".st-key-play_guess input");
  if (input) input.readOnly = busy;
}

const focused = new WeakMap();

export default function (component) {
  const { data, parentElement } = component;
  const box = parentElement.querySelector(".play");
  if (!data) return;
  applyScheme(box);
  box.setAttribute("aria-label", data.label);
  box.classList.toggle("text", data.kind === "text");
  const drawn = JSON.stringify(data);
  if (box.dataset.drawn !== drawn) {
    box.dataset.drawn = drawn;
    box.replaceChildren(...(data.kind === "text" ? drawText(data) : drawTurn(data)));
    if (data.kind === "turn" && data.spoken) box.append(spoken(data.title));
  }
  if (data.kind === "text") holdInput(data.busy);
  if (data.focus && focused.get(box) !== data.focus) {
    focused.set(box, data.focus);
    if (matchMedia("(pointer: fine)").matches) focusInput();
  }
}

function spoken(text) {
  const said = element("p", "spoken");
  said.setAttribute("role", "status");
  requestAnimationFrame(() => (said.textContent = text)); // a change is what is read out
  return said;
}
