// From the feed, and from the component that has the run, to the stage of the same page. They are components with a
// bundle each, so the window is between them.
import type { FeedPayload, HeldRun } from "../dist/payloads.js";

const NAME = "specviz-feed";
const MOST_HELD = 4; // runs: a stage that is drawn again with older data takes one of these

const shared: Window & { specvizFeed?: FeedPayload, specvizRuns?: HeldRun[] } = window;

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
