// The token strip: the prompt, then a group of chips for each round. A step only changes the phase of the rounds it
// passes; the style sheet decides what a chip looks like in a phase.

import { Fragment, render } from "preact";
import { Chip, TokenText, byTarget, chipLabel, isSpecial, memo, visible, type ShownRound } from "../shared/chips.js";
import { find } from "../shared/dom.js";
import { say as sayOfAll } from "../shared/words.js";
import { TreeParts, foldedHeight, shownRows, stepFrom } from "./tree.js";
import { say } from "./words.js";
import type { ChipStatus, Phase, PromptPayload, StagePayload } from "../dist/payloads.js";

export type Place = { round: number, index: number }; // of a token
export type StripData = { prompt: PromptPayload, rounds: ShownRound[], translated: boolean, method: StagePayload["method"] };
type Said = ((status: ChipStatus) => string) | undefined;

const FEW_ROWS = 5; // above a tree of so many rows there is room for two lines of text
const LINE_BREAKS = /^\n+$/;
const BEFORE: PromptPayload = { hidden: 0, tokens: [] };

export class Strip {
  tokens = find(this.box, ".tokens");
  top: number | null = null; // where the strip is scrolled to; null when that is to be found again
  prompt = BEFORE;
  rounds: ShownRound[] = [];
  starts: boolean[] = []; // for each round, whether the text before it ends a line
  run = 0; // counts the runs that were shown
  atOnce = false;
  round = -1;
  phase: Phase | null = null;
  whole = false; // whether every round is judged
  open: ReadonlySet<number> = new Set(); // rounds whose tree is unfolded
  selected: Place | null = null;
  cost = ""; // of the check of the tree in sight
  reachable: { chip: HTMLElement, round: number } | null = null; // the one chip in the tab order
  said: Said = undefined; // the words for a status; undefined for the field's own

  /** `chosen`: when a visitor chooses a token, by pressing it (`meant`) or by moving the focus to it; null when they leave it */
  constructor(public box: HTMLElement, public chosen: (place: Place | null, meant: boolean) => void) {
    box.addEventListener("click", (event) => this.#press(event));
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("focusin", (event) => {
      const chip = chipOf(event);
      if (chip) this.#reach(chip);
      if (chip?.matches(":focus-visible")) this.chosen(placeOf(chip), false);
    });
  }

  /** `fresh`: whether this is another run */
  load(data: StripData, fresh: boolean) {
    this.box.classList.toggle("translated", data.translated);
    this.box.classList.toggle("at-once", data.method.at_once);
    if (fresh) Object.assign(this, { run: this.run + 1, round: -1, phase: null, whole: false, open: new Set(), selected: null, reachable: null, rounds: [] });
    this.prompt = data.prompt;
    this.atOnce = data.method.at_once;
    const texts = (round?: ShownRound) => JSON.stringify(round?.chips.map(({ text }) => text));
    this.rounds = data.rounds.map((round, i) => (texts(this.rounds[i]) === texts(round) ? this.rounds[i] : round)); // what is the same is not drawn again
    let newline = data.prompt.tokens.at(-1)?.endsWith("\n") ?? false;
    this.starts = this.rounds.map((round) => {
      const before = newline;
      ({ newline } = linesOf(round, before));
      return before;
    });
    const rows = Math.max(0, ...this.rounds.map(({ tree }) => (tree ? foldedHeight(tree) : 0))); // of the highest tree, so that nothing moves from round to round
    this.box.classList.toggle("trees", rows > 0);
    this.box.style.setProperty("--tree-rows", String(rows));
    this.box.style.setProperty("--tree-lines", rows > FEW_ROWS ? "1" : "2");
    this.#draw();
  }

  #draw() {
    const { rounds, round: now, selected, open, said, atOnce } = this;
    const drawn = rounds.map((round, index) => {
      const phase = this.whole || index < now ? "judge" : index === now ? this.phase : null;
      const [current, chosen] = [index === now, selected?.round === index ? selected.index : -1];
      return <Fragment key={index}><Round {...{ round, index, phase, current, chosen, said, atOnce }} open={open.has(index)} cost={current ? this.cost : ""} newline={this.starts[index]} />{" "}</Fragment>;
    });
    render(<Fragment key={this.run}><Prompt prompt={this.prompt} />{drawn}</Fragment>, this.tokens);
  }

  clear() {
    render(null, this.tokens);
    this.rounds = [];
  }

  /** Show the run up to a phase of a round. `still`: whether to scroll at once. `cost`: of the check of the tree in sight; empty where that is not known */
  show(round: number, phase: Phase | null, still: boolean, cost: string = "") {
    if (round === this.round && phase === this.phase && cost === this.cost) return this.follow(true);
    Object.assign(this, { round, phase, cost });
    this.#draw();
    const { reachable } = this;
    const stays = reachable && reachable.round <= round && !(isNode(reachable.chip) && reachable.round !== round); // a past tree is not shown
    if (!stays) this.#reachRound();
    this.follow(still);
  }

  select(place: Place | null) {
    if (place?.round === this.selected?.round && place?.index === this.selected?.index) return;
    this.selected = place;
    this.#draw();
  }

  #node(round: number) {
    return this.tokens.getElementsByClassName("round")[round] as HTMLElement | undefined;
  }

  /** Scroll the strip, never the page, by whole lines, so that the current round is in sight. `still`: whether to scroll at once */
  follow(still: boolean) {
    const node = this.#node(this.round);
    const tree = node?.querySelector<HTMLElement>(".branches");
    const { offsetTop, offsetHeight } = tree ?? node ?? this.box;
    const isBlock = tree || this.box.classList.contains("translated"); // with two tokenizers a round is as high as it needs to be; so is a tree, below the text
    const top = !node ? 0 : isBlock ? Math.max(0, Math.min(offsetTop + offsetHeight - this.box.clientHeight, offsetTop)) : this.#topOfLines(node);
    if (top === this.top) return;
    this.top = top;
    this.box.scrollTo({ top, behavior: still || tree ? "instant" : "smooth" }); // a tree stays where it is, and the text above it moves
  }

  #topOfLines(node: HTMLElement) {
    const chips = shownChips(node);
    const line = parseFloat(getComputedStyle(this.tokens).lineHeight);
    const lineOf = (chip: HTMLElement) => Math.floor((chip.offsetTop + chip.offsetHeight / 2) / line);
    const last = chips.at(-1);
    if (!last) return 0;
    const atEnd = (lineOf(last) + 1) * line - this.box.clientHeight;
    return Math.max(0, Math.min(atEnd, lineOf(chips[0]) * line));
  }

  /** Put the round in sight into the tab order. */
  offer() {
    if (!this.box.matches(":focus-within")) this.#reachRound();
  }

  #reachRound() {
    const chip = this.#node(this.round)?.querySelector<HTMLElement>(this.rounds[this.round].tree ? "[role=treeitem]" : ".chip");
    if (chip) this.#reach(chip);
  }

  /** No property of the chips: it follows the focus. */
  #reach(chip: HTMLElement) {
    if (this.reachable) this.reachable.chip.tabIndex = -1;
    this.reachable = { chip, round: placeOf(chip).round };
    chip.tabIndex = 0;
  }

  #press(event: MouseEvent) {
    const chip = chipOf(event);
    if (chip) return this.chosen(placeOf(chip), true);
    if (!(event.target instanceof Element && event.target.closest(".fold"))) return;
    const { open, round } = this;
    this.open = open.has(round) ? new Set([...open].filter((each) => each !== round)) : new Set([...open, round]);
    this.top = null; // the tree has another height now
    this.#draw();
    this.follow(true);
  }

  #key(event: KeyboardEvent) {
    const chip = chipOf(event);
    if (!chip || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return; // with shift: the stage's own keys
    if (event.key === "Enter" || event.key === " ") this.chosen(placeOf(chip), true);
    else if (event.key === "Escape" && this.box.closest(".pinned")) this.chosen(null, true);
    else {
      const next = this.#next(chip, event.key);
      if (!next) return;
      next.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #next(chip: HTMLElement, key: string): HTMLElement | null | undefined {
    const chips = shownChips(this.tokens);
    const { round: at, index } = placeOf(chip);
    const { tree, ...round } = this.rounds[at];
    const inTree = tree && isNode(chip) ? stepFrom(tree, shownRows({ round: { ...round, tree }, phase: this.phase, open: this.open.has(at) }), index, key) : undefined;
    if (typeof inTree === "number") return this.#node(at)?.querySelector<HTMLElement>(`[role=treeitem][data-index="${inTree}"]`);
    if (inTree === "out") return chips[Math.max(chips.findIndex(isNode) - 1, 0)];
    const here = chips.indexOf(chip);
    const places: Record<string, number> = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: chips.length - 1 };
    const to = places[key] ?? otherLine(chips, here, key);
    return to === undefined ? null : chips[Math.max(0, Math.min(to, chips.length - 1))];
  }
}

function chipOf({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest(".chip") : null;
}

function placeOf({ dataset: { round, index } }: HTMLElement): Place {
  return { round: Number(round), index: Number(index) };
}

function isNode(chip: HTMLElement) {
  return chip.role === "treeitem";
}

/** What can be seen: the style sheet hides the rest. */
function shownChips(node: HTMLElement) {
  return [...node.querySelectorAll<HTMLElement>(".chip")].filter((chip) => chip.getClientRects().length);
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

/** Which tokens begin a line: after the last of several newlines comes what follows them. And whether the text then ends one. */
function linesOf({ chips, tree }: ShownRound, newline: boolean) {
  const begin: Set<number> = new Set();
  for (const [i, { text, status }] of chips.entries()) {
    if (tree && status !== "accepted" && !byTarget({ status })) continue;
    if (newline && !LINE_BREAKS.test(text ?? "")) {
      begin.add(i);
      newline = false;
    }
    if (text?.includes("\n") && status !== "rejected" && status !== "discarded") newline = true;
  }
  return { begin, newline };
}

type Shown = { round: ShownRound; index: number; phase: Phase | null; current: boolean; chosen: number; said: Said; atOnce: boolean; open: boolean; cost: string; newline: boolean }; // chosen: the index of the chip that is explained, or -1

const Round = memo(({ round, index, phase, current, chosen, said, newline, ...others }: Shown) => {
  const { chips, tree, draft_tokens: own } = round;
  const { begin } = linesOf(round, newline);
  const control = (i: number) => ({
    "data-round": index, "data-index": i, tabIndex: -1, style: { "--i": String(i) }, class: i === chosen ? "selected" : "",
    "aria-pressed": i === chosen ? (true as const) : undefined, "aria-label": phase ? chipLabel(round, index, i, phase, said) : undefined,
  });
  const inText = chips.map((chip, i) => (!tree || chip.status === "accepted" || byTarget(chip)) && (
    <>{begin.has(i) && <br class={byTarget(chip) ? "for-emitted" : ""} />}<Chip of={chip} role="button" {...control(i)} /></>
  ));
  const look = `round${tree ? " tree" : ""}${current ? " current" : ""}`;
  const last = chips.findLastIndex((chip) => !byTarget(chip));
  return (
    <span class={look} role="group" aria-label={say("round", { round: index + 1 })} data-phase={phase ?? undefined} style={{ "--last": String(last) }}>
      {tree ? <TreeParts {...others} {...{ phase, control }} round={{ ...round, tree }} path={inText} /> : <>{last < 0 && <span class="no-draft">{sayOfAll("no_draft")}</span>}{inText}</>}
      {own && <span class="own-tokens" title={sayOfAll("own_tokens_tip")} data-named={sayOfAll("own_tokens_name")} role="note" aria-label={sayOfAll("own_tokens", { tokens: own.map(visible).join(", ") })}>{own.map((text) => <TokenText text={text} />)}</span>/* a thin line under the chips: what a draft with another tokenizer wrote */}
    </span>
  );
});

const Prompt = memo(({ prompt: { hidden, tokens } }: { prompt: PromptPayload }) => (
  <span class="prompt" title={say("prompt_tokens")} translate={false}>
    {hidden > 0 && <span class="more">{say("tokens_before", { tokens: hidden })}</span>}
    {tokens.map((text, i) => {
      const special = isSpecial(text) ? say("special_token", { token: text }) : ""; // no person wrote it: a small mark, which says what it is
      const shown = text.startsWith(" ") && text.length > 1 ? ` ${visible(text.slice(1))}` : visible(text);
      const piece = special ? <span class="piece special" title={special} role="img" aria-label={special}>▸</span> : <span class="piece">{shown}</span>;
      return <>{i > 0 && tokens[i - 1].includes("\n") && !LINE_BREAKS.test(text) && <br />}{piece}</>;
    })}
  </span>
));
