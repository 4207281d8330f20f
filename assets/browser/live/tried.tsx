// The list of what was tried on this visit: a row brings its run back exactly, or has every other run compared with it.

import { render } from "preact";
import { UNKNOWN, fixed, localize, percent, times } from "../shared/numbers.js";
import { endsOf } from "../trace/outcome.js";
import { countsOf } from "../trace/rounds.js";
import { draftName, shortName } from "../trace/words.js";
import { firstWords, timedOf } from "./outcome.js";
import { say } from "./words.js";
import type { Trace } from "../dist/payloads.js";
import type { Shown } from "./sent.js";

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
  pinned: Shown | null = null; // the run that others are compared with

  /** `body`: of the table. `compare`: with another run, or with none */
  constructor(public body: HTMLElement, public bringBack: (shown: Shown) => void, public compare: () => void) {}

  /** `shown`: a run that is over */
  add(shown: Shown) {
    this.tries.unshift({ number: this.count++, shown });
    if (this.tries.length > MOST) this.tries.splice(this.tries.findLastIndex(({ shown }) => shown !== this.pinned), 1); // the run that is compared with stays
    this._draw();
  }

  csv(linkOf: (trace: Trace) => string) {
    return csvOf([[...COLUMNS, "link"], ...this.tries.toReversed().map((each) => [...cellsOf(each), linkOf(each.shown.trace)])]);
  }

  _draw() {
    const rows = this.tries.map((each) => {
      const { shown } = each;
      const pinned = shown === this.pinned;
      const pin = () => { // it takes the place of the run before, in every plot
        this.pinned = pinned ? null : shown;
        this._draw();
        this.compare();
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
  const { called, draft, settings, prompt, timed, acceptance, per_call: tokens } = figuresOf(run);
  const speedup = times(timed?.speedup);
  const speed = timed?.trusted === false ? say("not_trusted") : timed?.interval ? say("speedup_interval", { speedup, ...endsOf(timed.interval) }) : speedup;
  return [
    called, draft, String(settings.draft_length), localize(String(settings.temperature)),
    firstWords(prompt.text, SHORT), percent(acceptance), tokens === null ? UNKNOWN : fixed(tokens, 2), speed,
  ];
}

/** A run's line of the file, without its link. */
export function cellsOf(run: Try): Cell[] {
  const { called, draft, settings, prompt, target, timed, acceptance, per_call: tokens } = figuresOf(run);
  return [
    called, draft, settings.draft_length, tokens, acceptance && 100 * acceptance,
    timed?.speedup ?? null, ...(timed?.interval ?? [null, null]), timed && (timed.trusted ? "yes" : "no"),
    firstWords(prompt.text, LONG), settings.temperature, shortName(target.name),
  ];
}

/** Its number says where it was not measured here. */
function figuresOf({ number, shown: { trace, here } }: Try) {
  const called = here ? String(number) : say("recorded_number", { number });
  return { ...trace, ...countsOf(trace), timed: timedOf(trace), draft: draftName(trace), called };
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
