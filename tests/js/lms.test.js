// What a lesson tells a learning system: the API that is found, the times, the values of SCORM 1.2.
// tests/browser/test_offline.py has a whole lesson.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Lms, findApi, timeOf } from "../../assets/browser/offline/lms.js";

function system(values = {}) {
  const calls = [];
  const called = (name) => () => (calls.push(name), "true");
  const api = {
    LMSInitialize: called("initialize"),
    LMSGetValue: (name) => values[name] ?? "",
    LMSSetValue: (name, value) => ((values[name] = value), "true"),
    LMSCommit: called("commit"),
    LMSFinish: called("finish"),
  };
  return { api, calls, values };
}

/** A window with these windows around it, the outermost last; what it is told, and its listeners. */
function inside(...around) {
  const [told, heard] = [[], new Map()];
  const here = { told, addEventListener: (name, then) => heard.set(name, then) };
  const windows = [here, ...around];
  windows.forEach((each, i) => Object.assign(each, { parent: windows[i + 1] ?? each, postMessage: (message, site) => told.push([message, site]) }));
  return { here, heard };
}

test("the API of the nearest window around, or of the window that opened this one; another site's is passed over", () => {
  const [near, far] = [system().api, system().api];
  const closed = new Proxy({}, { get: (target, name) => { if (name === "API") throw new Error("another origin"); return Reflect.get(target, name); } });
  for (const [around, api] of [[[{ API: near }, { API: far }], near], [[{}, { API: far }], far], [[closed, { API: far }], far], [[{}], null]]) assert.equal(findApi(inside(...around).here), api);
  const { here } = inside();
  here.opener = inside({ API: far }).here;
  assert.equal(findApi(here), far);
});

test("times as SCORM writes them", () => {
  assert.deepEqual([0, 61_230, 3_600_000 * 27 + 59_999].map(timeOf), ["0000:00:00.00", "0000:01:01.23", "0027:00:59.99"]);
});

test("nothing answered is no score; a page that is left finishes, and one that comes back begins again", () => {
  const { api, calls, values } = system({ "cmi.core.lesson_status": "not attempted" });
  const { here, heard } = inside({ API: api });
  const lms = new Lms(here, []);
  lms.tell({ seen: [0], answers: [null, null, null], right: 0, completed: false });
  assert.deepEqual([values["cmi.core.lesson_status"], values["cmi.core.score.raw"]], ["incomplete", undefined]);
  const done = { seen: [0, 1], answers: [1, 0, 2], right: 2, completed: true };
  lms.tell(done);
  assert.deepEqual(["raw", "min", "max"].map((which) => values[`cmi.core.score.${which}`]), ["67", "0", "100"]);
  heard.get("pagehide")();
  assert.match(values["cmi.core.session_time"], /^\d{4}:\d\d:\d\d\.\d\d$/);
  heard.get("pageshow")({ persisted: true }); // Back, to a page that the browser kept
  lms.tell({ ...done, right: 3 });
  assert.equal(values["cmi.core.score.raw"], "100");
  assert.deepEqual(calls, ["initialize", "commit", "commit", "finish", "initialize", "commit"]);
});

test("an opened lesson stays completed, and what is no progress is no progress", () => {
  const { api, values } = system({ "cmi.core.lesson_status": "completed" });
  const lms = new Lms(inside({ API: api }).here, []);
  lms.tell({ seen: [0], answers: [null], right: 0, completed: false });
  assert.equal(values["cmi.core.lesson_status"], "completed");
  for (const odd of ["{", "17", "[]", '{"seen": 3, "answers": []}']) {
    values["cmi.suspend_data"] = odd;
    assert.equal(lms.earlier(), null);
  }
});

test("the page that embeds it hears of it where its site was named, and nobody else does", () => {
  const progress = { seen: [0], answers: [1], right: 1, completed: true };
  for (const sites of [[], ["https://a.example"], ["https://a.example", "https://b.example:8443"]]) {
    const [framed, alone] = [inside({}).here, inside().here];
    for (const here of [framed, alone]) new Lms(here, sites).tell(progress);
    assert.deepEqual(framed.told, sites.map((site) => [{ type: "specviz-lesson", ...progress }, site]));
    assert.deepEqual(alone.told, []);
  }
});
