// The vocabulary: each word with its sentence, a picture from a recorded run, and where to see it in a run. A chip here is
// a chip of the stage. Text is only ever text.

import { drawRound } from "../shared/chips.js";
import { element, find } from "../shared/dom.js";
import { payloadOf, type Component } from "../shared/mounting.js";
import { milliseconds } from "../shared/numbers.js";
import { applyScheme } from "../shared/theme.js";
import { say } from "./words.js";
import type { EntryPayload, RoundPicture, TimesPicture, VocabularyPayload } from "../dist/payloads.js";

const OWN_PAGE = /^\.\/[a-z]*\?/;
const LONGEST_BAR = 50; // per cent of the line

function drawWord(word: EntryPayload) {
  const item = element("article", "entry");
  const name = element("h3", "", word.name);
  name.id = `word-${word.id}`;
  const head = element("div", "head");
  head.append(name);
  if (word.symbol) head.append(element("span", "symbol", word.symbol));
  item.append(head, element("p", "", word.text));
  if (word.picture) item.append(word.picture.kind === "round" ? pictureOfRound(word.picture) : pictureOfTimes(word.picture));
  if (word.figure) item.append(element("p", "figure", word.figure));
  item.append(linkOf(word));
  return item;
}

function linkOf({ link: href, name }: EntryPayload) {
  const link = element("a", "", say("see"));
  link.href = OWN_PAGE.test(href) ? href : "./learn";
  link.target = "_self";
  link.setAttribute("aria-label", say("see_word", { name }));
  return link;
}

/** One judged round as the strip shows it, with a ring around the word's own chips. */
function pictureOfRound({ chips, ringed, alt }: RoundPicture) {
  const box = element("div", "picture");
  const drawn = drawRound({ chips }, 0);
  drawn.node.dataset.phase = "judge";
  drawn.node.setAttribute("role", "img");
  drawn.node.setAttribute("aria-label", alt);
  for (const [i, chip] of drawn.chips.entries()) {
    chip.removeAttribute("role");
    chip.removeAttribute("tabindex");
    chip.setAttribute("aria-hidden", "true");
    chip.classList.toggle("ringed", ringed.includes(i));
  }
  box.append(drawn.node);
  return box;
}

/** Times as bars on one scale. */
function pictureOfTimes({ bars, alt }: TimesPicture) {
  const box = element("div", "picture times");
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", alt);
  const longest = Math.max(...bars.map(([, ms]) => ms), 1e-9);
  for (const [name, ms, kind] of bars) {
    const bar = element("i", `key ${kind}`);
    bar.style.width = `${Math.max(1, (LONGEST_BAR * ms) / longest)}%`;
    const line = element("div", "line");
    line.append(element("span", "of", name), bar, element("span", "ms", milliseconds(ms)));
    box.append(line);
  }
  return box;
}

export default function (component: Component<VocabularyPayload>) {
  const data = payloadOf(component);
  if (!data) return;
  const box = find(component.parentElement, ".words");
  applyScheme(box);
  box.replaceChildren(...data.words.map(drawWord));
}
