// What the stage has after news from its page's feed. Draws nothing.
import type { FeedPayload, SentRun, SentStage, StageGrowth, StageMount, Trace } from "../dist/payloads.js";

/** What Streamlit gave, with its run; null until that is here. */
export function joined(given: StageMount, run: SentRun | undefined): SentStage | null {
  return run ? { ...given, run } : null;
}

/** The run with what is new: null where the news are of another page, or older than what is there; "gap" where something in between is missing. */
export function grown(sent: SentStage, news: FeedPayload | undefined): SentStage | "gap" | null {
  if (!news || !sent.stream || news.stream !== sent.stream || news.version <= sent.version) return null;
  const { whole, growth, version } = news;
  if (whole) return whole;
  if (!growth) return null;
  const { start, plain_start: plainStart, rounds, plain, ...state } = growth;
  const { trace } = sent.run;
  if (growth.run_id !== sent.run_id || start > trace.rounds.length || plainStart > stepsOf(trace).length) return "gap";
  const run = rounds.length || plain.length ? { ...sent.run, trace: withNews(trace, growth) } : sent.run;
  return { ...sent, ...state, version, run };
}

function stepsOf({ autoregressive }: Trace) {
  return autoregressive?.seconds_per_token ?? [];
}

function withNews(trace: Trace, { start, rounds, plain_start: plainStart, plain }: StageGrowth): Trace {
  const steps = [...stepsOf(trace).slice(0, plainStart), ...plain];
  const autoregressive = steps.length ? { token_ids: [], ...trace.autoregressive, seconds_per_token: steps } : null;
  return { ...trace, rounds: [...trace.rounds.slice(0, start), ...rounds], autoregressive };
}

/** Which of the two the stage shows: what Streamlit gives again (after a change of theme, for example) can be older. */
export function newer(has: SentStage | null, given: SentStage) {
  return has && given.stream && given.stream === has.stream && given.version < has.version ? has : given;
}
