// From the feed to the stage of the same page. They are two components with a bundle each, so the window is between them.

/** @import { FeedPayload } from "./payloads.js" */

const NAME = "specviz-feed";

/** @type {Window & { specvizFeed?: FeedPayload }} */
const shared = window;

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
