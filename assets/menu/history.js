// One entry of the browser's history for a page, or for a step of a story. Streamlit makes one for every change of the
// address. Back would then stop at every setting of before, which the page no longer has: as if the key did nothing.

const STEPS = ["lesson", "moment", "part"]; // Back goes through these

/** @typedef {Window & { specvizHistory?: boolean }} HistoryWindow */

/** Called for every page; all pages share one document. */
export default function tidyHistory() {
  const page = /** @type {HistoryWindow} */ (window);
  if (page.specvizHistory) return;
  page.specvizHistory = true;
  const push = history.pushState.bind(history);
  history.pushState = (state, unused, url) => {
    if (samePlace(url)) history.replaceState(state, unused, url);
    else push(state, unused, url);
  };
}

/** @param {string | URL | null | undefined} url */
function samePlace(url) {
  const wanted = new URL(url ?? "", location.href);
  const now = new URL(location.href);
  /** @param {string} name */
  const stays = (name) => [null, wanted.searchParams.get(name)].includes(now.searchParams.get(name)); // null: just opened
  const same = STEPS.every(stays);
  return same && wanted.pathname === now.pathname;
}
