// What the stage has after news from its page's feed. Draws nothing.

/** @import { FeedPayload, SentRun, SentStage, StageGrowth, StageMount, Trace } from "../shared/payloads.js" */

/**
 * What Streamlit gave, with its run; null until that is here.
 * @param {StageMount} given
 * @param {SentRun | undefined} run
 * @returns {SentStage | null}
 */
export function joined(given, run) {
  return run ? { ...given, run } : null;
}

/**
 * The run with what is new: null where the news are of another page, or older than what is there; "gap" where something
 * in between is missing.
 * @param {SentStage} sent
 * @param {FeedPayload | undefined} news
 * @returns {SentStage | "gap" | null}
 */
export function grown(sent, news) {
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

/** @param {Trace} trace */
function stepsOf({ autoregressive }) {
  return autoregressive?.seconds_per_token ?? [];
}

/**
 * @param {Trace} trace
 * @param {StageGrowth} growth
 * @returns {Trace}
 */
function withNews(trace, { start, rounds, plain_start: plainStart, plain }) {
  const steps = [...stepsOf(trace).slice(0, plainStart), ...plain];
  const autoregressive = steps.length ? { token_ids: [], ...trace.autoregressive, seconds_per_token: steps } : null;
  return { ...trace, rounds: [...trace.rounds.slice(0, start), ...rounds], autoregressive };
}

/**
 * Which of the two the stage shows: what Streamlit gives again (after a change of theme, for example) can be older.
 * @param {SentStage | null} has
 * @param {SentStage} given
 */
export function newer(has, given) {
  return has && given.stream && given.stream === has.stream && given.version < has.version ? has : given;
}
