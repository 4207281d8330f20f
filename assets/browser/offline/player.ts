// Plays the run that the page holds. Nothing is asked of any server.

import { find } from "../shared/dom.js";
import { Stage } from "../stage/stage.js";
import type { SentStage } from "../dist/payloads.js";

function play() {
  const data: SentStage = JSON.parse(find(document, "#run").textContent ?? "");
  const stage = new Stage(find(document, "main"));
  stage.put(data);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => stage.put(data));
  return stage;
}

export default play();
