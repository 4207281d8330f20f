// From the feed, and from the component that has the run, to the stage of the same page. They are components with a
// bundle each, so the window is between them. A run that grows is joined from its parts here.
import type { FeedPayload, HeldRun, SentRun, SentStage, StageMount } from "../dist/payloads.js";

const NAME = "specviz-feed";
const MOST_HELD = 4; // runs: a stage that is drawn again with older data takes one of these

const shared: typeof globalThis & { specvizFeed?: FeedPayload, specvizRuns?: HeldRun[] } = globalThis;

export function hold(run: HeldRun) {
  const others = (shared.specvizRuns ?? []).filter(({ key }) => key !== run.key);
  shared.specvizRuns = [run, ...others].slice(0, MOST_HELD);
  window.dispatchEvent(new Event(NAME));
}

/** The run of that key, if it has come. */
export function held(key: string) {
  return shared.specvizRuns?.find((run) => run.key === key)?.run;
}

export function publish(news: FeedPayload) {
  shared.specvizFeed = news;
  window.dispatchEvent(new Event(NAME));
}

/** What was published last: a stage that is mounted after it must not miss it. */
export function latest() {
  return shared.specvizFeed;
}

/** Calls back for everything published from now on. What it returns ends it. */
export function listen(heard: () => void): () => void {
  window.addEventListener(NAME, heard);
  return () => window.removeEventListener(NAME, heard);
}

// ---- what the stage has after news

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
  const before = trace.autoregressive?.seconds_per_token ?? [];
  if (growth.run_id !== sent.run_id || start > trace.rounds.length || plainStart > before.length) return "gap";
  if (!rounds.length && !plain.length) return { ...sent, ...state, version };
  const steps = [...before.slice(0, plainStart), ...plain];
  const autoregressive = steps.length ? { token_ids: [], ...trace.autoregressive, seconds_per_token: steps } : null;
  const grownTrace = { ...trace, rounds: [...trace.rounds.slice(0, start), ...rounds], autoregressive };
  return { ...sent, ...state, version, run: { ...sent.run, trace: grownTrace } };
}

/** Which of the two the stage shows: what Streamlit gives again (after a change of theme, for example) can be older. */
export function newer(has: SentStage | null, given: SentStage) {
  return has && given.stream && given.stream === has.stream && given.version < has.version ? has : given;
}
