// What is said of one run: its result, why it was as fast as it was, and what is different about another one. The numbers are the
// server's, or those that the live page computes itself.

import RESULT from "../../texts/browser/result.json" with { type: "json" };
import { sayer } from "../shared/fill.js";
import { fixed, percent } from "../shared/numbers.js";
import { breakEven } from "../shared/theory.js";
import { countsOf } from "./rounds.js";
import { shortName } from "./words.js";
import type { ResultPayload, RunName, SentStage, Trace, Verdict } from "../dist/payloads.js";
import type { Result } from "./drawn.js";

const say = sayer(RESULT);
const SPEEDS = { "too close to call": "untold", hurts: "slower", helps: "faster", "about even": "faster" } as const;

/** The result at the top of the stage; undefined where it shows none. */
export function resultOf({ run: { trace }, running, result }: SentStage): Result | undefined {
  if (!result) return undefined;
  const said = running ? { says: say("waiting"), reason: "" } : timed(trace, result);
  const says = result.previous ? say("previous", { says: said.says }) : said.says;
  return { trusted: true, speedup: null, interval: null, where: "", ...said, says, same: result.same };
}

/** By its own time; where that is not trusted, by the costs of a quiet moment. */
function timed(trace: Trace, { verdict, rough, spans, quiet, source, where }: ResultPayload): Pick<Result, "says" | "reason"> & Partial<Result> {
  const { rounds, emitted: tokens } = countsOf(trace);
  const passes = say("passes", { tokens, rounds });
  if (!verdict) return { says: say("untimed", { passes }), reason: say("no_verdict", { why: whyNoVerdict(trace) }) };
  const { trusted, word, speedup, interval } = verdict;
  if (trusted) {
    const reason = say(interval ? "timed_between" : "timed", { reason: reasonOf(verdict, rough, spans), where, ...endsOf(interval) }).trim();
    return { says: say(SPEEDS[word], { speedup: fixed(speedup, 2), where: "", passes }), reason, where, speedup: Number(speedup.toFixed(2)), interval };
  }
  const busy = { trusted, says: say("busy", { passes }) };
  if (!quiet) return { ...busy, reason: say("busy_counts") };
  if (!quiet.interval) return { ...busy, reason: say("busy_unsure", { speedup: estimated(quiet), source }) };
  const [low, high] = quiet.interval.map((end) => Number(end.toFixed(2))); // as it is said
  const likely = high < 1 ? "slower" : low > 1 ? "faster" : "untold";
  const says = say(likely, { speedup: estimated(quiet), where: say("quiet"), passes: say("quiet_passes", { tokens, rounds }) });
  return { trusted, says, reason: say("busy_known", { source }), interval: quiet.interval };
}

function whyNoVerdict(trace: Trace) {
  if (!trace.output.stopped_by) return say("stopped");
  if (!countsOf(trace).drafted) return say("nothing_drafted");
  return say(trace.autoregressive ? "no_times" : "not_alone");
}

/** When it pays, and what a round costs; where the costs do not explain the speed, why not. `rough`: by a coarse clock */
export function reasonOf({ terms, reason, break_even: pays }: Pick<Verdict, "terms" | "reason" | "break_even">, rough: boolean = false, spans?: ResultPayload["spans"]) {
  if (!terms) return reason;
  const { alpha, draft_length: length, cost_ratio: cost, overhead, counted } = terms;
  const [drafted, check] = counted ? [counted.drafted, counted.verification] : [length, terms.verification];
  const steps = drafted * cost + check + overhead;
  const guess = counted ? drafted * cost : cost; // where rounds differ in length: all guesses of one
  const [guesses, checks] = spans ?? [[guess, guess], [check, check]];
  const digits = rough ? 1 : 2;
  const about = (figure: string) => (rough ? say("about", { figure }) : figure);
  const said = say(counted ? "pays_tokens" : breakEven(steps, length) === null ? "pays_never" : pays === null ? "pays_unsaid" : "pays_rate", {
    steps: about(fixed(steps, digits)), least: about(percent(pays)), here: counted ? fixed(counted.tokens, 2) : percent(alpha),
    guesses: spanned(guesses, digits), times: spanned(checks, digits),
  });
  return spans === null ? say("unsure", { reason: said }) : said;
}

/** An estimated speedup in numbers: its interval, where that is known. */
export function estimated({ speedup, interval }: { speedup: number | null, interval?: [number, number] | null }) {
  return interval ? spanned(interval, 2) : say("about", { figure: speedup === null ? "" : fixed(speedup, 2) });
}

function spanned(interval: number[], digits: number) {
  const [low, high] = interval.map((end) => fixed(end, digits));
  return low === high ? low : say("from_to", { low, high });
}

/** Both ends of an interval, as they are said. */
export function endsOf(interval: [number, number] | null) {
  const [low, high] = (interval ?? []).map((end) => fixed(end, 2));
  return { low, high };
}

/** A run's draft and draft length, and what else is not as in the `other` run. */
export function nameOf(run: RunName, other: RunName) {
  const parts = [
    say("run", { draft: run.draft, length: run.draft_length }),
    run.target !== other.target && say("for_target", { target: shortName(run.target) }),
    run.prompt !== other.prompt && say("prompt_words", { words: run.words }),
    run.temperature !== other.temperature && say("at_temperature", { temperature: Number(run.temperature.toPrecision(6)) }),
    run.manner !== other.manner && run.manner,
    run.max_new_tokens !== other.max_new_tokens && say("so_many_tokens", { number: run.max_new_tokens }),
    run.machine !== other.machine && say(run.created < other.created ? "recorded_elsewhere" : "measured_here"),
  ];
  return parts.filter(Boolean).join(", ");
}
