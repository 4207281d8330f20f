// What all pages share, in one document: a phone's menu, the Back key, presses of buttons that a redraw moves, translators.

import { payloadOf, type Component } from "../shared/mounting.js";
import { surviveTranslators } from "./translators.js";
import { say } from "./words.js";

const MENU = say("menu");
const HANDLE = `[data-testid=stExpandSidebarButton]:not([aria-label="${MENU}"])`;
const LINK = "[data-testid=stSidebarNavLink]";
const CLOSE = "[data-testid=stSidebarCollapseButton] button";
const KEYED = "[data-testid=stElementContainer][class*=st-key-]"; // the place of one button
const AS_WRITTEN = ":is([data-testid=stText], code):not([translate])"; // what models and files wrote, and code
const STEPS = ["lesson", "moment", "part"]; // Back goes through these
const STILL = 8; // px: who moves further between press and release has thought better of it

/** Called for every page; all pages share one document. */
export default function frame(component: Component<{ lang: string, dir: string }>) {
  Object.assign(document.documentElement, payloadOf(component));
  const page = window as Window & { specvizFrame?: boolean };
  if (page.specvizFrame) return;
  page.specvizFrame = true;
  surviveTranslators();
  // On a narrow screen Streamlit puts the links to the pages into a side menu. Here its handle gets a name that is also
  // on screen (assets/browser/styles/app.css), and the menu closes after a choice: Streamlit itself closes it on some phones only.
  const name = () => {
    document.querySelector(HANDLE)?.setAttribute("aria-label", MENU);
    for (const node of document.querySelectorAll(AS_WRITTEN)) node.setAttribute("translate", "no");
    const first = document.getElementById("first-look"); // once the page has brought the app's style itself, the copy in its HTML goes: it comes after the styles of a view
    if (first && [...document.querySelectorAll("style")].some((style) => style !== first && style.textContent === first.textContent)) first.remove();
  };
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
  name();
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(LINK)) click(CLOSE);
  });
  // One entry of the browser's history for a page, or for a step of a story. Streamlit makes one for every change of the
  // address. Back would then stop at every setting of before, which the page no longer has: as if the key did nothing.
  const push = history.pushState.bind(history);
  history.pushState = (state, unused, url) => {
    if (samePlace(url)) history.replaceState(state, unused, url);
    else push(state, unused, url);
  };
  document.addEventListener("pointerdown", keepPress, true);
}

function click(selector: string) {
  const found = document.querySelector(selector);
  if (found instanceof HTMLElement) found.click();
}

function samePlace(url: string | URL | null | undefined) {
  const wanted = new URL(url ?? "", location.href);
  const now = new URL(location.href);
  const stays = (name: string) => [null, wanted.searchParams.get(name)].includes(now.searchParams.get(name)); // null: just opened
  return STEPS.every(stays) && wanted.pathname === now.pathname;
}

/** A browser makes no click of a press where the button is elsewhere, or another one, when the mouse lets go: here it is one. */
function keepPress({ target, pointerType, button, clientX, clientY }: PointerEvent) {
  const pressed = target instanceof Element && pointerType === "mouse" && button === 0 ? target.closest("button") : null;
  if (!pressed) return;
  const key = pressed.closest(KEYED)?.className.match(/st-key-[\w-]+/)?.[0];
  const over = new AbortController();
  const options = { capture: true, signal: over.signal };
  document.addEventListener("click", (event) => event.composedPath().includes(pressed) && over.abort(), options);
  const release = (up: PointerEvent) => {
    if (Math.hypot(up.clientX - clientX, up.clientY - clientY) > STILL) return over.abort();
    setTimeout(() => { // after the browser's own click
      if (over.signal.aborted) return;
      over.abort();
      if (pressed.isConnected) pressed.click();
      else if (key) click(`.${key} button`);
    });
  };
  document.addEventListener("pointerup", release, options);
}
