// The list of what was tried on this visit: a row brings its run back exactly, or has every other run compared with it.

import { render } from "preact";
import { UNKNOWN, fixed, localize, percent, times } from "../shared/numbers.js";
import { countsOf } from "../trace/rounds.js";
import { draftName, shortName } from "../trace/words.js";
import { firstWords, timedOf } from "./outcome.js";
import { say } from "./words.js";
import type { Trace } from "../dist/payloads.js";
import type { Shown } from "./sent.js";

type Told = { number: number, shown: Pick<Shown, "trace" | "here"> };
type Try = { number: number, shown: Shown };

const MOST = 50; // rows
const [SHORT, LONG] = [24, 40]; // characters of a prompt: in the table and in the file
/** The columns of Watch's file, of which this page has no calibrated costs: `COLUMNS` in specviz/ui/watch/tried.py. */
export const COLUMNS = [
  "run", "draft", "draft length", "tokens a round", "accepted %", "speedup", "95 % from", "95 % to", "time trusted",
  "prompt", "temperature", "target",
];

export class Tried {
  tries: Try[] = []; // newest first
  count = 0;
  pinned: string | null = null; // the id of the run that others are compared with

  /** `body`: of the table. `compare`: null: no longer */
  constructor(public body: HTMLElement, public bringBack: (shown: Shown) => void, public compare: (shown: Shown | null) => void) {}

  /** `shown`: a run that is over */
  add(shown: Shown) {
    this.tries.unshift({ number: this.count++, shown });
    if (this.tries.length > MOST) this.tries.splice(this.tries.findLastIndex(({ shown: { id } }) => id !== this.pinned), 1); // the run that is compared with stays
    this._draw();
  }

  csv(linkOf: (trace: Trace) => string) {
    return csvOf([[...COLUMNS, "link"], ...this.tries.toReversed().map((each) => [...cellsOf(each), linkOf(each.shown.trace)])]);
  }

  _draw() {
    const rows = this.tries.map((each) => {
      const { shown } = each;
      const pinned = shown.id === this.pinned;
      const pin = () => { // it takes the place of the run before, in every plot
        this.pinned = pinned ? null : shown.id;
        this._draw();
        this.compare(pinned ? null : shown);
      };
      return (
        <tr key={each.number} class={pinned ? "pinned" : ""}>
          {wordsOf(each).map((text) => <td>{text}</td>)}
          <td>
            <button type="button" onClick={() => this.bringBack(shown)}>{say("show_again")}</button>
            <button type="button" key={String(pinned)} onClick={pin}>{say(pinned ? "stop_comparing" : "compare")}</button>
          </td>
        </tr>
      );
    });
    render(rows, this.body);
  }
}

function wordsOf(run: Try) {
  const { settings, prompt } = run.shown.trace;
  const { timed, acceptance, tokens, called } = figuresOf(run);
  const [low, high] = (timed?.interval ?? []).map((end) => fixed(end, 2));
  const speedup = times(timed?.speedup);
  const speed = timed && !timed.trusted ? say("not_trusted") : low ? say("speedup_interval", { speedup, low, high }) : speedup;
  return [
    called, draftName(run.shown.trace), String(settings.draft_length), localize(String(settings.temperature)),
    firstWords(prompt.text, SHORT), percent(acceptance), tokens === null ? UNKNOWN : fixed(tokens, 2), speed,
  ];
}

/** A run's line of the file, without its link. */
export function cellsOf(run: Told): Cell[] {
  const { settings, prompt, target } = run.shown.trace;
  const { timed, acceptance, tokens, called } = figuresOf(run);
  return [
    called, draftName(run.shown.trace), settings.draft_length, tokens, acceptance === null ? null : 100 * acceptance,
    timed?.speedup ?? null, ...(timed?.interval ?? [null, null]), timed && (timed.trusted ? "yes" : "no"),
    firstWords(prompt.text, LONG), settings.temperature, shortName(target.name),
  ];
}

/** Its number says where it was not measured here. */
function figuresOf({ number, shown: { trace, here } }: Told) {
  const { acceptance, rounds, emitted } = countsOf(trace);
  return { timed: timedOf(trace), acceptance, tokens: rounds ? emitted / rounds : null, called: here ? String(number) : say("recorded_number", { number }) };
}

// ---- as CSV that a spreadsheet reads as text and numbers: no cell is a formula. As specviz/core/csv_cells.py

const FORMULA = /^'*(?:[\t\r]|\s*[=+\-@＝＋－＠])/u; // with the marks of text that is marked already

type Cell = string | number | null;

export function csvOf(rows: Cell[][]) {
  const written = (cell: Cell) => {
    if (typeof cell === "number") return String(Math.round(cell * 10_000) / 10_000);
    const line = (cell ?? "").replace(/\p{C}/gu, " ");
    const text = FORMULA.test(line) ? `'${line}` : line;
    return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(written).join(",")}\r\n`).join("");
}
