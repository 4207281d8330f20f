// From the feed, and from the component that has the run, to the stage of the same page. They are components with a
// bundle each, so the window is between them.

/** @import { FeedPayload, HeldRun } from "./payloads.js" */

const NAME = "specviz-feed";
const MOST_HELD = 4; // runs: a stage that is drawn again with older data takes one of these

/** @type {Window & { specvizFeed?: FeedPayload, specvizRuns?: HeldRun[] }} */
const shared = window;

/** @param {HeldRun} run */
export function hold(run) {
  const others = (shared.specvizRuns ?? []).filter(({ key }) => key !== run.key);
  shared.specvizRuns = [run, ...others].slice(0, MOST_HELD);
  window.dispatchEvent(new Event(NAME));
}

/**
 * The run of that key, if it has come.
 * @param {string} key
 */
export function held(key) {
  return shared.specvizRuns?.find((run) => run.key === key)?.run;
}

/** @param {FeedPayload} news */
export function publish(news) {
  shared.specvizFeed = news;
  window.dispatchEvent(new Event(NAME));
}

/** What was published last: a stage that is mounted after it must not miss it. */
export function latest() {
  return shared.specvizFeed;
}

/**
 * Calls back for everything published from now on.
 * @param {() => void} heard
 * @returns {() => void} ends it
 */
export function listen(heard) {
  window.addEventListener(NAME, heard);
  return () => window.removeEventListener(NAME, heard);
}
