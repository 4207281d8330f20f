// A lesson's picture. It follows the playhead, and is drawn only where `data.diagram` is set; the style sheet shows each part in
// its phase. The lesson also marks the part of the stage that it is about, and moves the playhead to its place.

import { render, type ComponentChildren, type ComponentType } from "preact";
import { Chip, MARKS, byTarget, className, isSpecial, visible } from "../shared/chips.js";
import { find } from "../shared/dom.js";
import { milliseconds, prob, times } from "../shared/numbers.js";
import { Lossless } from "./lossless.js";
import { depthsOf } from "./tree.js";
import { isPlain, say, speak, voiceOf, type Voice } from "./words.js";
import type { CandidateRow, Chip as Token, DiagramPayload, JudgedChip, PassPayload, Phase, RoundPayload, ShareRow, StagePayload, TargetChip } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";

type Pictured = { data: StagePayload, lesson: DiagramPayload, at: number, phase: Phase, said: Voice }; // at: the round
type Column = "draft" | "target" | "text";
type Row = [name: string, value: number, low: number, high: number]; // a speedup and its interval

const PICTURES: Record<Exclude<DiagramPayload["picture"], "lossless">, ComponentType<Pictured>> = { way: Way, alone: Alone, pass: Pass, dice: Dice, weights: Weights, texts: Texts, stops: Stops };

const COLUMNS: Column[] = ["draft", "target", "text"];
const ACTIVE: Record<Phase, Column> = { propose: "draft", check: "target", judge: "text" };
const PARTS: Array<[string, "products" | "attention" | "own_work" | "the_rest"]> = [["passes", "products"], ["left", "attention"], ["lost", "own_work"], ["later", "the_rest"]]; // how each part is drawn, and its name
const SCHEDULES: Record<string, "stop_fixed" | "stop_heuristic" | "stop_confidence"> = { fixed: "stop_fixed", heuristic: "stop_heuristic", confidence: "stop_confidence" };
const MOST = 8; // tokens drawn; a longer draft says how many more there are
const END = 60; // characters of the text so far, where there is room

export class Diagram {
  box = find(this.stage, ".diagram");
  data: StagePayload | null = null;
  place: string | null = null;

  constructor(public stage: HTMLElement, public playhead: Playhead) {}

  load(data: StagePayload) {
    const { diagram: lesson } = this.data = data;
    this.stage.classList.toggle("lesson", Boolean(lesson));
    this.box.hidden = !lesson;
    speak(this.stage, data);
    if (lesson) Object.assign(this.stage.dataset, { focus: lesson.focus, picture: lesson.picture });
    else for (const name of ["focus", "picture"]) delete this.stage.dataset[name];
  }

  /** Once the playhead knows the run: to the lesson's place, when that is a new one. */
  settle() {
    const lesson = this.data?.diagram;
    if (!lesson || this.place === lesson.place) return;
    this.place = lesson.place;
    this.playhead.seek(lesson.step);
  }

  show() {
    const { data, playhead } = this;
    if (!data?.diagram) return;
    const { picture, words, rule } = data.diagram;
    if (rule) return render(<Lossless recorded={rule} words={words} key={words} />, this.box); // what the visitor did to q stays while its lesson and its words stay
    const Picture = PICTURES[picture === "lossless" ? "way" : picture];
    const [at, phase] = [Math.max(playhead.round, 0), playhead.phase ?? "propose"];
    render(<div class={`picture ${picture}`} data-phase={phase} translate={false}><Picture {...{ data, at, phase }} lesson={data.diagram} said={voiceOf(words)} /></div>, this.box);
  }
}

// ---- a round: draft model → target model → accept the start, correct the first error

function Way({ data, at, phase, said }: Pictured) {
  const round = data.rounds[at];
  const { chips, tree } = round;
  const guesses = chips.filter((chip) => !byTarget(chip));
  const order = tree ? tree.rows.flat() : [...guesses.keys()];
  const beyond = tree ? order.slice(MOST).filter((i) => chips[i].status === "accepted") : [];
  const shown = [...order.slice(0, MOST - beyond.length), ...beyond]; // the first ones, and all that are accepted; those of a tree stand as an outline
  const drafts = tree ? "drafts_tree" : data.method.at_once ? "drafts_at_once" : "drafts_one_by_one";
  const under = { draft: guesses.length ? said(drafts, { count: guesses.length }) : "", target: said("under_target"), text: said(`under_text_${data.rule}`) };
  const own = chips.find(byTarget);
  const after = shown.findLastIndex((i) => guesses[i].status === "accepted") + 1; // a correction takes the next one's row
  const depths = tree ? depthsOf(tree) : [];
  const most = tree ? Math.max(...data.rounds.map((each) => each.tree?.parents.length ?? 0), 1) : data.draft_length;
  return (
    <>
      <Columns {...{ data, phase, said, under }} state={data.method.sees_state} />
      <div class="tokens-on-way" style={{ gridTemplateRows: `repeat(${Math.min(most, MOST) + 1}, 1.75em)` }}>
        {guesses.length > 0 && <small class="one-pass" style={{ gridRow: `1 / ${shown.length + 1}` }}>{said("one_pass")}</small>}
        {shown.map((i, row) => (
          <span key={i} class={`guess ${className(guesses[i].status)}`} style={{ gridRow: String(row + 1), "--i": String(row), paddingLeft: `${0.9 * (depths[i] ?? 0)}em` }}><Chip of={guesses[i]} /></span>
        ))}
        {own && <span class={`guess by-target ${own.status}`} style={{ gridRow: String(Math.min(after, MOST) + 1), "--i": "0" }}><Chip of={own} /></span>}
      </div>
      {guesses.length > MOST && <small>{say("and_more", { more: guesses.length - MOST })}</small>}
    </>
  );
}

type Heads = { data: StagePayload; phase: Phase; said: Voice; under: Record<Column, string>; last?: string; state?: boolean }; // last: another title of the last column

/** The boxes of both models and of the text, and the way from one to the next. */
function Columns({ data, phase, said, under, last, state }: Heads) {
  const title = (name: Column) => (name === "text" && last) || (name === "draft" && !isPlain(data) && data.method.title) || said(`title_of_${name}`);
  return (
    <div class="columns">
      {COLUMNS.map((name, i) => (
        <>
          {i > 0 && <span class="between-boxes"><i class="arrow" />{i === 1 && state && <><i class="arrow state" /><small>{said("state")}</small></>}</span>}
          <div class={`box ${name}${ACTIVE[phase] === name ? " active" : ""}`}><b>{title(name)}</b><small>{under[name]}</small></div>
        </>
      ))}
    </div>
  );
}

// ---- the target alone: one pass for one token, which is read before the next pass; and all its passes, each as long as it took

/** The text before a pass, and the token that the pass writes. `index`: of the pass */
export function writtenAt({ rounds, prompt }: Pick<StagePayload, "rounds" | "prompt">, index: number) {
  const tokens = [...prompt.tokens.filter((text) => !isSpecial(text)), ...rounds.slice(0, index).map(({ chips }) => chips[0].text)];
  return { before: tokens.join(""), token: rounds[index].chips[0].text };
}

function Alone({ data, at, said }: Pictured) {
  const { before, token } = writtenAt(data, at);
  const { rounds } = data;
  const whole = rounds[rounds.length - 1].ms[3];
  const middle = (50 * (rounds[at].ms[0] + rounds[at].ms[3])) / whole;
  return (
    <>
      <div class="loop">
        <small>{say("text_so_far")}</small><small>{said("alone_next")}</small>
        <span class="box"><bdi>{[...before].slice(-END).join("")}</bdi></span><i class="arrow" />
        <span class="box target"><b>{said("alone_model")}</b></span><i class="arrow" />
        <span class="box made"><bdi>{visible(token)}</bdi></span>
        <small class="again">{said("alone_back")}</small>
      </div>
      <p class="ends"><small>{said("alone_lane")}</small><small>{`${whole.toFixed(0)} ms`}</small></p>
      <div class="all-passes">{rounds.map(({ ms }, i) => <i class={`odds ${i < at ? "target" : i === at ? "passes" : "later"}`} style={{ flexGrow: String(ms[3] - ms[0]) }} />)}</div>
      <b class="at" style={{ marginLeft: `clamp(0em, ${middle}% - 2em, 100% - 4em)` }}>{said("alone_pass", { number: at + 1 })}</b>
    </>
  );
}

// ---- one pass of the target: what enters it side by side, and the token that it expects after each; in a greedy run

interface Place {
  read: string;
  guess: Token | null; // that is read there; null: the text's last token
  expected: TargetChip | JudgedChip | null; // what the target expects after it; null after a wrong guess: there it is not used, and no run records it
  next: Token | null; // the guess that it is compared with, null after the last one
}

/** `index`: of the round */
export function placesOf({ rounds, prompt }: Pick<StagePayload, "rounds" | "prompt">, index: number): Place[] {
  const { chips } = rounds[index];
  const guesses = chips.filter((chip) => !byTarget(chip));
  const own = (chips.find(byTarget) as TargetChip | undefined) ?? null;
  const before = rounds[index - 1]?.chips.findLast((chip) => byTarget(chip) || chip.status === "accepted");
  return [null, ...guesses].map((guess, i) => {
    const place = { read: guess?.text ?? before?.text ?? prompt.tokens.at(-1) ?? "", guess, next: guesses[i] ?? null };
    if (place.next?.status === "accepted") return { ...place, expected: place.next };
    const used = place.next ? place.next.status === "rejected" : own?.status === "bonus";
    return { ...place, expected: used ? own : null };
  });
}

function Pass({ data, at, phase, said }: Pictured) {
  const places = placesOf(data, at);
  const compared = ({ expected, next }: Place, number: number) => { // of the guess that stands at the next place
    if (!expected) return say("not_used");
    if (!next) return said("the_bonus");
    return `${MARKS[next.status]} ${next.status === "rejected" ? say("guess_was", { number, wrong: visible(next.text) }) : say("guess_number", { number })}`;
  };
  return (
    <>
      <div class="places">
        {places.map(({ read, guess }, i) => <div class="place"><small>{i ? say("guess_number", { number: i }) : said("last_token")}</small>{guess ? <Chip of={guess} /> : <bdi class="chip read">{visible(read)}</bdi>}<i class="arrow down" /></div>)}
      </div>
      <div class={phase === "check" ? "box target active" : "box target"}><b>{said("pass_model")}</b><small>{said("pass_asks")}</small></div>
      <div class="places">
        {places.map((place, i) => (
          <div class="place">
            <i class="arrow down" />
            {phase === "judge" && place.expected ? <Chip of={place.expected} /> : <span class={phase === "propose" ? "chip unused to-come" : "chip unused"}>{phase === "judge" ? "⋯" : "?"}</span>}
            <small class={`judged ${className(place.expected?.status ?? "discarded")}`}>{compared(place, i + 1)}</small>
          </div>
        ))}
      </div>
    </>
  );
}

// ---- a token drawn by lot: what both models give it, one dice roll, and the leftover its replacement is drawn from

/** The token that the dice roll was about: the rejected one, else the accepted one that was most in danger. */
export function rolled(round: RoundPayload): JudgedChip | undefined {
  const judged: JudgedChip[] = round.chips.flatMap((chip) => (chip.status === "accepted" || chip.status === "rejected" ? [chip] : []));
  const drawn = judged.filter((chip) => chip.u !== null && chip.p !== null && chip.q !== null);
  const inDanger = [...drawn].sort((one, other) => (one.accept_prob ?? 1) - (other.accept_prob ?? 1));
  return drawn.find((chip) => chip.status === "rejected") ?? inDanger[0];
}

function Dice({ data, at, phase, said }: Pictured) {
  const round = data.rounds[at];
  const chip = rolled(round);
  const under = { draft: said("dice_draft"), target: said("dice_target"), text: said("dice_text") };
  const [passes, roll] = [100 * (chip?.accept_prob ?? 0), 100 * (chip?.u ?? 0)];
  const shares = sharesOf(round, say("others"));
  const most = Math.max(...(chip?.candidates ?? []).map(([, p, q]) => Math.max(p, q ?? 0)), 0.01);
  return (
    <>
      <Columns {...{ data, phase, said, under }} last={said("dice_title")} />
      {data.rule !== "token" && <small>{said("not_token_by_token")}</small>}
      {data.rule === "token" && !chip && <small>{say("nothing_drawn")}</small>}
      {data.rule === "token" && chip && (
        <>
          <div class="candidates">{chip.candidates.map((row) => <Candidate {...{ row, most, chip, said }} />)}</div>
          <div class="roll-line checked">{/* the dice roll as a place from 0 to 1 */}
            <b class="judged" style={{ marginLeft: `clamp(0em, ${roll}% - 5em, 100% - 10em)` }}>{`${said("dice_roll")} = ${prob(chip.u)}: ${chip.status === "accepted" ? "✓" : "✗"}`}</b>
            <div class="on-line"><i class="odds passes" style={{ width: `${passes}%` }} /><i class="odds lost" style={{ width: `${100 - passes}%` }} /><i class="roll judged" style={{ left: `${roll}%` }} /></div>
            <p class="ends"><small>{said("stays_below", { chance: prob(chip.accept_prob) })}</small>{passes < 80 && <small>{said("goes_above")}</small>}</p>
          </div>
          <div class="judged">{/* the leftover from 0 to 1: each token has the part of it with which it is drawn */}
            <small>{shares.length > 0 && said("leftover_whole")}</small>
            <div class="on-line shares">{shares.map(([text, share, own]) => <span class={own ? "odds left" : "odds target"} style={{ width: `${100 * share}%` }}>{`${own ? "↻ " : ""}${visible(text)} ${prob(share)}`}</span>)}</div>
          </div>
        </>
      )}
    </>
  );
}

/** What the draft and the target give a token, and the part of p above q again, on the scale of both. `most`: the longest bar */
function Candidate({ row: [text, p, q, own], most, chip, said }: { row: CandidateRow; most: number; chip: JudgedChip; said: Voice }) {
  const [name, common] = [visible(text), Math.min(p, q ?? 0)];
  const left = p - (q ?? 0);
  return (
    <>
      <Bar name={own ? `${name} ◂` : name} parts={[["draft", (q ?? 0) / most]]} figure={prob(q)} />
      <Bar class="checked" name={name} parts={[["target", common / most], ["left", (p - common) / most]]} figure={prob(p)} />
      {chip.status === "accepted" ? <small class="judged">{own && said("it_stays")}</small> : left <= 0 ? <small class="judged">{said("nothing_left")}</small> : <Bar class="judged" name={name} parts={[["left", left / most]]} figure={prob(left)} />}
    </>
  );
}

/** The tokens of the leftover by their share, and what is left for all others. Empty where nothing was rejected. */
export function sharesOf(round: RoundPayload, others: string): ShareRow[] {
  const corrections: TargetChip[] = round.chips.flatMap((chip) => (chip.status === "correction" ? [chip] : []));
  const found = corrections.flatMap(({ residual }) => residual);
  const rest = 1 - found.reduce((sum, [, share]) => sum + share, 0);
  return found.length && rest > 0.0005 ? [...found, [others, rest, false]] : found;
}

// ---- the weights are read once, however many tokens a pass reads, and however many texts; beside it the measured times

/** `parts`: each with its kind and its share of the longest bar */
function Bar({ name, parts, figure, class: look = "" }: { name: string; parts: Array<[string, number]>; figure: string; class?: string }) {
  return (
    <div class={look}>
      <span class="of">{name}</span>
      <span class="bar">{parts.map(([kind, share]) => share > 0 && <i class={`odds ${kind}`} style={{ width: `${100 * share}%` }} />)}<span>{figure}</span></span>
    </div>
  );
}

function Weights({ lesson: { passes: measured }, said }: Pictured) {
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
function Texts({ lesson: { batch }, said }: Pictured) {
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

// ---- when to stop drafting: the draft's own probability of each guess, with the limit of the stop; and measured speedups

/** The guesses of a round, and which of them the confidence stop would not draft: those after the first unsure one. */
export function guessesOf({ chips }: RoundPayload, limit: number) {
  const drafted = chips.filter((chip) => !byTarget(chip)).map((chip) => chip as Exclude<Token, TargetChip>);
  const unsure = drafted.findIndex(({ q }) => q !== null && q < limit);
  return drafted.map(({ text, status, q }, i) => ({ text, kind: className(status), q: q ?? 0, beyond: unsure >= 0 && i > unsure }));
}

function Stops({ data, lesson: { stops }, at, said }: Pictured) {
  if (!stops) return null;
  const guesses = guessesOf(data.rounds[at], stops.limit).slice(0, MOST);
  const schedules = stops.schedules.map(([schedule, ...figures]) => [said(SCHEDULES[schedule]), ...figures] as Row);
  const batches = stops.batches.map(([texts, length, ...figures]) => [said("stop_batch", { texts, length }), ...figures] as Row);
  const ends = [1, ...[...schedules, ...batches].flatMap(([, , low, high]) => [low, high])];
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const place = (value: number) => `${(100 * (value - least)) / (most - least)}%`;
  const speedups = (rows: Row[]) => rows.map(([name, value, low, high]) => (
    <div class="speedup-row" title={say("from_to", { low: times(low), high: times(high) })}>
      <span>{name}</span>
      <span class="on-scale" style={{ "--line": place(1) }}><i class="interval" style={{ left: place(low), right: `calc(100% - ${place(high)})` }} /><i class="dot-at" style={{ left: place(value) }} /></span>
      <small>{times(value)}</small>
    </div>
  ));
  return (
    <div class="two">
      <div style={{ "--line": `${100 * stops.limit}%` }}>
        <small>{said(guesses.length ? "this_round" : "nothing_drafted")}</small>
        {guesses.map(({ text, kind, q, beyond }) => (
          <div class="guess-row"><bdi>{visible(text)}</bdi><span class="on-scale"><i class={`odds guessed ${beyond ? "later" : kind}`} style={{ width: `${100 * q}%` }} /></span><small>{beyond ? say("after_the_stop") : prob(q)}</small></div>
        ))}
        <small class="limit">{guesses.length > 0 && said("limit_of_stop", { limit: prob(stops.limit) })}</small>
      </div>
      <div>
        <small>{said("by_schedule", { measured: stops.measured[0] })}</small>{speedups(schedules)}
        <small>{said("by_batch", { measured: stops.measured[1] })}</small>{speedups(batches)}
        <small>{said("stops_scale")}</small>
      </div>
    </div>
  );
}
