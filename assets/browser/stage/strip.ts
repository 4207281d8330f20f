// The token strip: the prompt, then a group of chips for each round. A step only changes the phase of the rounds it
// passes; the style sheet decides what a chip looks like in a phase.

import { chipLabel, drawRound, type ShownRound } from "../shared/chips.js";
import { element, find } from "../shared/dom.js";
import { visible } from "../shared/text.js";
import { foldedHeight, stepFrom } from "./tree.js";
import { arrange, chipsOf, drawTreeRound, isNode, textOf, type AnyRound } from "./tree_round.js";
import { say } from "./words.js";
import type { ChipStatus, Phase, PromptPayload, StagePayload } from "../dist/payloads.js";

export type Place = { round: number, index: number }; // of a token
export type StripData = { prompt: PromptPayload, rounds: ShownRound[], translated: boolean, method: StagePayload["method"] };

const FEW_ROWS = 5; // above a tree of so many rows there is room for two lines of text
const LINE_BREAKS = /^\n+$/;
const SPECIAL = /^<.+>$/; // a special token, not a part of the text that a person wrote

export class Strip {
  tokens = find(this.box, ".tokens");
  top: number | null = null; // where the strip is scrolled to; null when that is to be found again
  rounds: AnyRound[] = [];
  round = -1;
  phase: Phase | null = null;
  selected: HTMLElement[] = []; // the chips of the chosen token: a guess of a tree can have two
  reachable: { chip: HTMLElement, round: number } | null = null; // the one chip in the tab order
  newline = false; // whether the text so far ends a line
  newlines: boolean[] = []; // the same before each round
  said: ((status: ChipStatus) => string) | undefined = undefined;

  /** `chosen`: when a visitor chooses a token, by pressing it (`meant`) or by moving the focus to it; null when they leave it */
  constructor(public box: HTMLElement, public chosen: (place: Place | null, meant: boolean) => void) {
    box.addEventListener("click", (event) => this.#press(event));
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("focusin", (event) => this.#focused(chipOf(event)));
  }

  clear() {
    this.tokens.replaceChildren();
    this.rounds = [];
    this.round = -1;
    this.phase = null;
    this.selected = [];
    this.reachable = null;
    this.newline = false;
    this.newlines = [];
    this.box.classList.remove("trees");
    this.box.style.removeProperty("--tree-rows");
  }

  /**
   * Rounds that are already drawn are drawn again only where a text changed: a character that was cut at their end is whole
   * now. `fresh`: whether this is another run
   */
  load(data: StripData, fresh: boolean) {
    this.box.classList.toggle("translated", data.translated);
    this.box.classList.toggle("at-once", data.method.at_once);
    if (fresh) {
      this.clear();
      this.tokens.append(promptTokens(data.prompt));
      this.newline = data.prompt.tokens.at(-1)?.endsWith("\n") ?? false;
    }
    const changed = this.rounds.findIndex(({ data: drawn }, i) => String(textsOf(drawn)) !== String(textsOf(data.rounds[i])));
    if (changed >= 0) this.#forget(changed);
    const added = document.createDocumentFragment();
    for (const round of data.rounds.slice(this.rounds.length)) {
      const drawn = this.#drawn(round, data.method.at_once);
      this.newlines.push(this.newline);
      this.#breakLines(drawn);
      this.rounds.push(drawn);
      added.append(drawn.node, " ");
    }
    this.tokens.append(added);
  }

  /** Take a round and those after it away; they are drawn and shown anew. */
  #forget(from: number) {
    for (const { node } of this.rounds.splice(from)) {
      node.nextSibling?.remove(); // the space between two rounds
      node.remove();
    }
    [this.newline] = this.newlines.splice(from);
    if (this.round < from) return;
    this.round = from - 1;
    this.reachable = null;
  }

  /** `atOnce`: whether its guesses were made together */
  #drawn(round: ShownRound, atOnce: boolean): AnyRound {
    const { tree } = round;
    if (!tree) return drawRound(round, this.rounds.length);
    this.#makeRoom(foldedHeight(tree));
    return drawTreeRound({ ...round, tree }, this.rounds.length, atOnce);
  }

  /** As high as the highest tree of the run, so that nothing moves from round to round. */
  #makeRoom(rows: number) {
    const most = Math.max(rows, Number(this.box.style.getPropertyValue("--tree-rows")));
    this.box.classList.add("trees");
    this.box.style.setProperty("--tree-rows", String(most));
    this.box.style.setProperty("--tree-lines", most > FEW_ROWS ? "1" : "2");
  }

  /** A real line break wherever the text has one: after the last of several newlines, before what follows it. */
  #breakLines(drawn: AnyRound) {
    for (const [chip, { text, status }] of textOf(drawn)) {
      if (this.newline && !LINE_BREAKS.test(text ?? "")) {
        chip.before(element("br", chip.classList.contains("emitted") ? "for-emitted" : ""));
        this.newline = false;
      }
      if (text?.includes("\n") && status !== "rejected" && status !== "discarded") this.newline = true;
    }
  }

  /** Show the run up to a phase of a round. `still`: whether to scroll at once */
  show(round: number, phase: Phase | null, still: boolean) {
    if (round === this.round && phase === this.phase) return this.follow(true);
    const from = Math.max(0, Math.min(round, this.round));
    const to = Math.max(round, this.round);
    for (let i = from; i <= to; i++) this.#paint(i, i < round ? "judge" : i === round ? phase : null, i === round);
    this.round = round;
    this.phase = phase;
    this.#keepReachable();
    this.follow(still);
  }

  /** Show the whole run at once. `current`: the round in sight */
  showAll(current: number) {
    for (let i = 0; i < this.rounds.length; i++) this.#paint(i, "judge", i === current);
    this.round = current;
    this.phase = "judge";
    this.#keepReachable();
    this.follow(true);
  }

  #paint(index: number, phase: Phase | null, current: boolean) {
    const round = this.rounds[index];
    if (!round) return;
    round.node.classList.toggle("current", current);
    if (round.phase === phase) return;
    round.phase = phase;
    round.node.dataset.phase = phase ?? "";
    if (round.tree?.fold) arrange(round);
    this.#name(round, index);
  }

  /** For a screen reader. */
  #name(round: AnyRound, index: number) {
    for (const i of round.chips.keys()) {
      const label = chipLabel(round.data, index, i, round.phase, this.said);
      for (const chip of chipsOf(round, i)) chip.setAttribute("aria-label", label);
    }
  }

  /** `said`: the words for a status; undefined for the field's own */
  speak(said: ((status: ChipStatus) => string) | undefined) {
    if (said === this.said) return;
    this.said = said;
    this.rounds.forEach((round, index) => this.#name(round, index));
  }

  /** Scroll the strip, never the page, by whole lines, so that the current round is in sight. `still`: whether to scroll at once */
  follow(still: boolean) {
    const round = this.rounds[this.round];
    const isBlock = round?.tree || this.box.classList.contains("translated");
    const top = isBlock ? this.#topOfBlock(round) : this.#topOfLines(round);
    if (top === this.top) return;
    this.top = top;
    const atOnce = still || round?.tree; // a tree stays where it is, and the text above it moves
    this.box.scrollTo({ top, behavior: atOnce ? "instant" : "smooth" });
  }

  #topOfLines(round: AnyRound | undefined) {
    const chips = round ? shownChips(round) : [];
    const line = parseFloat(getComputedStyle(this.tokens).lineHeight);
    const lineOf = (chip: HTMLElement) => Math.floor((chip.offsetTop + chip.offsetHeight / 2) / line);
    const last = chips.at(-1);
    if (!last) return 0;
    const atEnd = (lineOf(last) + 1) * line - this.box.clientHeight;
    return Math.max(0, Math.min(atEnd, lineOf(chips[0]) * line));
  }

  /** With two tokenizers a round is a block, as high as it needs to be; so is a tree, below the text. */
  #topOfBlock(round: AnyRound | undefined) {
    if (!round) return 0;
    const { offsetTop, offsetHeight } = round.tree?.box ?? round.node;
    return Math.max(0, Math.min(offsetTop + offsetHeight - this.box.clientHeight, offsetTop));
  }

  /** Beside the tree in sight: what its check cost. `cost`: empty where that is not known */
  tell(cost: string) {
    const place = this.rounds[this.round]?.tree?.box.querySelector(".cost");
    if (place) place.textContent = cost && ` · ${cost}`;
  }

  /** Mark the token that the inspector explains. */
  select(place: Place | null) {
    for (const chip of this.selected) mark(chip, false);
    const round = place && this.rounds[place.round];
    this.selected = round ? chipsOf(round, place.index) : [];
    for (const chip of this.selected) mark(chip, true);
  }

  #shown() {
    return this.rounds.filter((round) => round.phase).flatMap(shownChips);
  }

  #keepReachable() {
    const round = this.rounds[this.round];
    if (this.reachable && this.reachable.round <= this.round && !this.#isPast(this.reachable)) return;
    if (round) this.#reach(round.chips[0]);
  }

  /** Whether it is a guess of a tree that is no longer shown. */
  #isPast({ chip, round }: { chip: HTMLElement, round: number }) {
    return isNode(chip) && round !== this.round;
  }

  /** Put the round in sight into the tab order. */
  offer() {
    const round = this.rounds[this.round];
    if (round && !this.box.matches(":focus-within")) this.#reach(round.chips[0]);
  }

  #reach(chip: HTMLElement) {
    if (this.reachable) this.reachable.chip.tabIndex = -1;
    this.reachable = { chip, round: Number(chip.dataset.round) };
    chip.tabIndex = 0;
  }

  #focused(chip: HTMLElement | null) {
    if (!chip) return;
    this.#reach(chip);
    if (chip.matches(":focus-visible")) this.#choose(chip, false);
  }

  #choose(chip: HTMLElement | null, meant: boolean = true) {
    if (chip) this.chosen({ round: Number(chip.dataset.round), index: Number(chip.dataset.index) }, meant);
  }

  #press(event: MouseEvent) {
    this.#choose(chipOf(event));
    if (!(event.target instanceof Element && event.target.closest(".fold"))) return;
    this.top = null; // the tree has another height now
    this.follow(true);
  }

  #key(event: KeyboardEvent) {
    const chip = chipOf(event);
    if (!chip || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return; // with shift: the stage's own keys
    if (event.key === "Enter" || event.key === " ") this.#choose(chip);
    else if (event.key === "Escape" && this.box.closest(".pinned")) this.chosen(null, true);
    else if (!this.#moveFocus(chip, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Whether the key moves the focus. */
  #moveFocus(chip: HTMLElement, key: string): boolean {
    const chips = this.#shown();
    const round = this.rounds[Number(chip.dataset.round)];
    const inTree = round.tree && isNode(chip) ? stepFrom(round.tree.shape, round.tree.rows, Number(chip.dataset.index), key) : undefined;
    if (typeof inTree === "number") return focusOn(round.chips[inTree]);
    if (inTree === "out") return focusOn(chips[Math.max(chips.findIndex(isNode) - 1, 0)]);
    const at = chips.indexOf(chip);
    const places: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: chips.length - 1 };
    const to = places[key] ?? otherLine(chips, at, key);
    if (to === undefined) return false;
    return focusOn(chips[Math.max(0, Math.min(to, chips.length - 1))]);
  }
}

function textsOf({ chips }: ShownRound) {
  return chips.map(({ text }) => text);
}

function mark(chip: HTMLElement, selected: boolean) {
  chip.classList.toggle("selected", selected);
  chip.setAttribute(isNode(chip) ? "aria-selected" : "aria-pressed", String(selected));
}

function chipOf({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest(".chip") : null;
}

/** What can be seen of a round: of a tree its path once it is judged, and all of it while it is in sight. */
function shownChips(round: AnyRound) {
  const judged = round.phase === "judge";
  const { chips, node, tree } = round;
  if (!tree) return chips.filter((chip) => judged || chip.classList.contains("drafted"));
  const text = judged ? textOf(round).map(([chip]) => chip) : [];
  const guesses = node.classList.contains("current") ? chips.filter((chip) => isNode(chip) && !chip.hidden) : [];
  return [...text, ...guesses];
}

function focusOn(chip: HTMLElement) {
  chip.focus();
  return true;
}

/** The nearest chip on the line above or below. Undefined for another key. */
function otherLine(chips: HTMLElement[], at: number, key: string): number | undefined {
  if (key !== "ArrowDown" && key !== "ArrowUp") return undefined;
  const down = key === "ArrowDown" ? 1 : -1;
  const here = chips[at].getBoundingClientRect();
  let nearest = { i: at, distance: Infinity };
  for (const [i, chip] of chips.entries()) {
    const box = chip.getBoundingClientRect();
    const distance = Math.abs(box.top - here.top) * 100 + Math.abs(box.left - here.left);
    if ((box.top - here.top) * down > here.height / 2 && distance < nearest.distance) nearest = { i, distance };
  }
  return nearest.i;
}

function promptTokens(prompt: PromptPayload) {
  const node = element("span", "prompt");
  node.title = say("prompt_tokens");
  node.translate = false;
  if (prompt.hidden) node.append(element("span", "more", say("tokens_before", { tokens: prompt.hidden })));
  let newline = false;
  for (const text of prompt.tokens) {
    if (newline && !LINE_BREAKS.test(text)) node.append(element("br"));
    newline = text.includes("\n");
    const shown = text.startsWith(" ") && text.length > 1 ? ` ${visible(text.slice(1))}` : visible(text);
    node.append(SPECIAL.test(text) ? specialMark(text) : element("span", "piece", shown));
  }
  return node;
}

/** A token that no person wrote: a small mark, and what it is. */
function specialMark(text: string) {
  const mark = element("span", "piece special", "▸");
  mark.title = say("special_token", { token: text });
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", mark.title);
  return mark;
}
