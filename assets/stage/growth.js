// What the stage has after news from its page's feed. Draws nothing.

/** @import { FeedPayload, RunPart, StageMount, StagePayload } from "../shared/payloads.js" */

/**
 * What Streamlit gave, with its run; null until that is here.
 * @param {StageMount} given
 * @param {RunPart | undefined} run
 * @returns {StagePayload | null}
 */
export function joined(given, run) {
  return run ? { ...given, ...run } : null;
}

/**
 * The run with what is new: null where the news are of another page, or older than what is there; "gap" where something
 * in between is missing.
 * @param {StagePayload} data
 * @param {FeedPayload | undefined} news
 * @returns {StagePayload | "gap" | null}
 */
export function grown(data, news) {
  if (!news || !data.stream || news.stream !== data.stream || news.version <= data.version) return null;
  const { whole, growth, version } = news;
  if (whole) return whole;
  if (!growth) return null;
  const plain = data.plain ?? [];
  if (growth.run_id !== data.run_id || growth.start > data.rounds.length || growth.plain_start > plain.length) return "gap";
  const { start, plain_start: plainStart, rounds, plain: steps, ...state } = growth;
  const all = [...plain.slice(0, plainStart), ...steps];
  return { ...data, ...state, version, rounds: [...data.rounds.slice(0, start), ...rounds], plain: all.length ? all : data.plain };
}

/**
 * Which of the two the stage shows: what Streamlit gives again (after a change of theme, for example) can be older.
 * @param {StagePayload | null} has
 * @param {StagePayload} given
 */
export function newer(has, given) {
  return has && given.stream && given.stream === has.stream && given.version < has.version ? has : given;
}
