// Plays the run that the page holds. Nothing is asked of any server.

import { Stage } from "../stage/stage.js";
import { find } from "../shared/dom.js";

/** @import { StagePayload } from "../shared/payloads.js" */

function play() {
  /** @type {StagePayload} */
  const data = JSON.parse(find(document, "#run").textContent ?? "");
  const parentElement = find(document, "main");
  const nobody = () => {};
  const stage = new Stage(parentElement);
  const load = () => stage.load({ data, parentElement, setStateValue: nobody, setTriggerValue: nobody });
  load();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", load);
  return stage;
}

export default play();
