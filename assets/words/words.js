// The vocabulary: each word with its sentence, a picture from a recorded run, and where to see it happen.
// A chip here is a chip of the stage. Text is only ever text.

import { drawRound } from "../shared/chips.js";
import { element } from "../shared/dom.js";
import { milliseconds } from "../shared/numbers.js";
import { applyScheme } from "../shared/theme.js";

function drawWord(word) {
  const item = element("article", "entry");
  const name = element("h3", "", word.name);
  name.id = `word-${word.id}`;
  const head = element("div", "head");
  head.append(name);
  if (word.symbol) head.append(element("span", "symbol", word.symbol));
  item.append(head, element("p", "", word.text));
  if (word.chips) item.append(pictureOfRound(word));
  if (word.bars) item.append(pictureOfTime(word));
  if (word.figure) item.append(element("p", "figure", word.figure));
  const link = element("a", "", word.link.label);
  link.href = /^\.\/[a-z]*\?/.test(word.link.href) ? word.link.href : "./learn";
  link.target = "_self";
  if (word.link.new_tab) Object.assign(link, { target: "_blank", rel: "noopener" });
  link.setAttribute("aria-label", `${word.link.label}: ${word.name}`);
  item.append(link);
  return item;
}

/** One judged round as the strip shows it, the word's own chips ringed. */
function pictureOfRound(word) {
  const box = element("div", "picture");
  const drawn = drawRound({ chips: word.chips }, 0);
  drawn.node.dataset.phase = "judge";
  drawn.node.setAttribute("role", "img");
  drawn.node.setAttribute("aria-label", word.alt);
  for (const [i, chip] of drawn.chips.entries()) {
    chip.removeAttribute("role");
    chip.removeAttribute("tabindex");
    chip.setAttribute("aria-hidden", "true");
    chip.classList.toggle("ringed", word.ringed.includes(i));
  }
  box.append(drawn.node);
  return box;
}

/** Times as bars on one scale: [label, milliseconds, kind]. */
function pictureOfTime(word) {
  const box = element("div", "picture times");
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", word.alt);
  const longest = Math.max(...word.bars.map(([, ms]) => ms), 1e-9);
  for (const [name, ms, kind] of word.bars) {
    const bar = element("i", `key ${kind}`);
    bar.style.width = `${Math.max(1, (60 * ms) / longest)}%`;
    const line = element("div", "line");
    line.append(element("span", "of", name), bar, element("span", "ms", milliseconds(ms)));
    box.append(line);
  }
  return box;
}

export default function (component) {
  const box = component.parentElement.querySelector(".words");
  if (!component.data) return;
  applyScheme(box);
  box.replaceChildren(...component.data.words.map(drawWord));
}
