// The stage on a bare page, mounted as Streamlit mounts it. The page answers what the stage reports, as the app does.

import update from "/stage/stage.js";
import run from "/stage/feed.js";

const find = (parent, selector) => parent.querySelector(selector);
const bytes = (data) => new TextEncoder().encode(JSON.stringify(data));
const asked = JSON.parse(find(document, "#asked").textContent);
const state = { place: asked.place, reported: null, gamma: null, run: 0 };
const host = find(document, "#host");
const root = host.attachShadow({ mode: "open" });
let end = () => {};

/** What the app does when something changed: draw the page again, `latency` ms later. */
function rerun() {
  const then = { ...state };
  document.body.dataset.testScriptState = "running";
  setTimeout(() => draw(then), asked.latency);
}

function draw({ place, reported, gamma, run: number }) {
  const { run: sent, ...payload } = { ...asked.run, run_id: `run ${number}`, playhead: place };
  const part = `${number}`;
  run({ data: bytes({ key: part, run: sent }) });
  find(document, "#reported").textContent = `reported ${reported ?? "None"}`;
  find(document, "#gamma").textContent = `asked ${gamma ?? "None"}`;
  end = update({
    data: bytes({ ...payload, gamma: gamma ?? payload.gamma, part }),
    parentElement: root,
    setStateValue: (name, value) => tell({ place: value, reported: value }),
    setTriggerValue: (name, value) => tell({ gamma: value }),
  });
  document.body.dataset.testScriptState = "notRunning";
}

function tell(changes) {
  Object.assign(state, changes);
  rerun();
}

function put() {
  const template = find(document, "#stage");
  root.replaceChildren(template.content.cloneNode(true));
  draw(state);
}

find(document, "#new").addEventListener("click", () => tell({ run: state.run + 1 }));
find(document, "#elsewhere").addEventListener("change", (event) => {
  if (!event.target.checked) return put();
  root.replaceChildren();
  host.remove(); // the stage's end is heard once it is off the page
  end();
  find(document, "main").append(host);
});

put();
