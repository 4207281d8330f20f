// On a narrow screen Streamlit puts the links to the pages into a side menu. Here its handle gets a name that is also
// on screen (assets/app.css), and the menu closes after a choice: Streamlit itself closes it on some phones only.

const NAME = "Menu";
const HANDLE = `[data-testid=stExpandSidebarButton]:not([aria-label=${NAME}])`;
const LINK = "[data-testid=stSidebarNavLink]";
const CLOSE = "[data-testid=stSidebarCollapseButton] button";

/** @typedef {Window & { specvizMenu?: boolean }} MenuWindow */

/** @param {Event} event */
function closeAfterChoice({ target }) {
  if (!(target instanceof Element) || !target.closest(LINK)) return;
  const close = document.querySelector(CLOSE);
  if (close instanceof HTMLElement) close.click();
}

function nameHandle() {
  document.querySelector(HANDLE)?.setAttribute("aria-label", NAME);
}

/** Called for every page; all pages share one document. */
export default function menu() {
  const page = /** @type {MenuWindow} */ (window);
  if (page.specvizMenu) return;
  page.specvizMenu = true;
  document.addEventListener("click", closeAfterChoice);
  new MutationObserver(nameHandle).observe(document.body, { childList: true, subtree: true });
  nameHandle();
}
