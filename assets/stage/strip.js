// The token strip: the prompt, then a group of chips a round. A step only changes the phase of the rounds it passes;
// what a chip looks like in a phase is the style sheet's business.

import { chipLabel, drawRound } from "../shared/chips.js";
import { element } from "../shared/dom.js";
import { visible } from "../shared/text.js";

export class Strip {
  /** `chosen(place)` with {round, index} when a visitor picks a token, null when they let go. */
  constructor(box, chosen) {
    this.box = box;
    this.tokens = box.querySelector(".tokens");
    this.chosen = chosen;
    this.clear();
    box.addEventListener("click", (event) => this.#pick(event.target.closest?.(".chip")));
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("focusin", (event) => this.#focused(event.target));
  }

  clear() {
    this.tokens.replaceChildren();
    this.rounds = []; // {node, chips, data}
    this.round = -1;
    this.phase = null;
    this.selected = null;
    this.reachable = null; // the one chip in the tab order
    this.newline = false; // whether the text so far ends a line
  }

  /** Rounds already drawn are never drawn again. */
  load(data, fresh) {
    this.box.classList.toggle("translated", data.translated);
    if (fresh) {
      this.clear();
      this.tokens.append(promptTokens(data.prompt));
      this.newline = data.prompt.tokens.at(-1)?.endsWith("\n") ?? false;
    }
    const added = document.createDocumentFragment();
    for (const round of data.rounds.slice(this.rounds.length)) {
      const drawn = drawRound(round, this.rounds.length);
      this.#breakLines(drawn);
      this.rounds.push(drawn);
      added.append(drawn.node, " ");
    }
    this.tokens.append(added);
  }

  /** A real line break wherever the text has one: after the last of several newlines, before whatever follows it. */
  #breakLines({ chips, data }) {
    for (const [i, { text, status }] of data.chips.entries()) {
      if (this.newline && !/^\n+$/.test(text ?? "")) {
        chips[i].before(element("br", chips[i].classList.contains("emitted") ? "for-emitted" : ""));
        this.newline = false;
      }
      if (text?.includes("\n") && status !== "rejected" && status !== "discarded") this.newline = true;
    }
  }

  /** Show the run up to a phase of a round. */
  show(round, phase, still) {
    if (round === this.round && phase === this.phase) return this.follow(true);
    const from = Math.max(0, Math.min(round, this.round));
    const to = Math.max(round, this.round);
    for (let i = from; i <= to; i++) this.#paint(i, i < round ? "judge" : i === round ? phase : null, i === round);
    this.round = round;
    this.phase = phase;
    this.#keepReachable();
    this.follow(still);
  }

  /** Show the whole run at once, with one round as the current one. */
  showAll(current) {
    for (let i = 0; i < this.rounds.length; i++) this.#paint(i, "judge", i === current);
    this.round = current;
    this.phase = "judge";
    this.#keepReachable();
    this.follow(true);
  }

  #paint(index, phase, current) {
    const round = this.rounds[index];
    if (!round) return;
    round.node.classList.toggle("current", current);
    if (round.phase === phase) return;
    round.phase = phase;
    round.node.dataset.phase = phase ?? "";
    for (const [i, chip] of round.chips.entries()) chip.setAttribute("aria-label", chipLabel(round.data, index, i, phase));
  }

  /** Scroll the strip itself, never the page, by whole lines, so that the current round is in sight. */
  follow(still) {
    const round = this.rounds[this.round];
    const top = this.box.classList.contains("translated") ? this.#topOfBlock(round) : this.#topOfLines(round);
    if (top === this.top) return;
    this.top = top;
    this.box.scrollTo({ top, behavior: still ? "instant" : "smooth" });
  }

  #topOfLines(round) {
    const chips = round?.chips.filter((chip) => isShown(chip, round)) ?? [];
    const line = parseFloat(getComputedStyle(this.tokens).lineHeight);
    const lineOf = (chip) => Math.floor((chip.offsetTop + chip.offsetHeight / 2) / line);
    const atEnd = chips.length ? (lineOf(chips.at(-1)) + 1) * line - this.box.clientHeight : 0;
    return chips.length ? Math.max(0, Math.min(atEnd, lineOf(chips[0]) * line)) : 0;
  }

  /** With two tokenisations a round is a block, as high as it needs to be. */
  #topOfBlock(round) {
    if (!round) return 0;
    const { offsetTop, offsetHeight } = round.node;
    return Math.max(0, Math.min(offsetTop + offsetHeight - this.box.clientHeight, offsetTop));
  }

  /** Mark the token the inspector explains. */
  select(place) {
    this.selected?.classList.remove("selected");
    this.selected = place ? this.rounds[place.round]?.chips[place.index] : null;
    this.selected?.classList.add("selected");
  }

  #shown() {
    return this.rounds.filter((round) => round.phase).flatMap((round) => round.chips.filter((chip) => isShown(chip, round)));
  }

  #keepReachable() {
    const round = this.rounds[this.round];
    if (this.reachable && this.reachable.round <= this.round) return;
    if (round) this.#reach(round.chips[0]);
  }

  #reach(chip) {
    if (this.reachable) this.reachable.chip.tabIndex = -1;
    this.reachable = { chip, round: Number(chip.dataset.round) };
    chip.tabIndex = 0;
  }

  #focused(target) {
    if (!target.matches(".chip")) return;
    this.#reach(target);
    if (target.matches(":focus-visible")) this.#pick(target);
  }

  #pick(chip) {
    if (chip) this.chosen({ round: Number(chip.dataset.round), index: Number(chip.dataset.index) });
  }

  #key(event) {
    const chip = event.target.closest(".chip");
    if (!chip || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") this.#pick(chip);
    else if (event.key === "Escape") this.chosen(null);
    else if (!this.#moveFocus(chip, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #moveFocus(chip, key) {
    const chips = this.#shown();
    const at = chips.indexOf(chip);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: chips.length - 1 }[key] ?? otherLine(chips, at, key);
    if (to === undefined) return false;
    chips[Math.max(0, Math.min(to, chips.length - 1))].focus();
    return true;
  }
}

function isShown(chip, round) {
  return round.phase === "judge" || chip.classList.contains("drafted");
}

/** The nearest chip on the line above or below. */
function otherLine(chips, at, key) {
  const down = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (!down) return undefined;
  const here = chips[at].getBoundingClientRect();
  const distance = (box) => Math.abs(box.top - here.top) * 100 + Math.abs(box.left - here.left);
  const beyond = chips
    .map((chip, i) => ({ i, box: chip.getBoundingClientRect() }))
    .filter(({ box }) => (box.top - here.top) * down > here.height / 2);
  return beyond.reduce((best, one) => (!best || distance(one.box) < distance(best.box) ? one : best), null)?.i ?? at;
}

function promptTokens(prompt) {
  const node = element("span", "prompt");
  node.title = "The prompt, cut into tokens";
  if (prompt.hidden) node.append(element("span", "more", `… ${prompt.hidden} tokens before`));
  let newline = false;
  for (const text of prompt.tokens) {
    if (newline && !/^\n+$/.test(text)) node.append(element("br"));
    newline = text.includes("\n");
    const special = /^<.+>$/.test(text); // a marker, no part of the text a person wrote
    node.append(element("span", special ? "piece special" : "piece", text.startsWith(" ") && text.length > 1 ? ` ${visible(text.slice(1))}` : visible(text)));
  }
  return node;
}
