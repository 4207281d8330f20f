// A component without a look: the run of a stage, which Streamlit sends only when the run is another one.

import { hold } from "../shared/channel.js";
import { payloadOf } from "../shared/mounting.js";

/** @import { Component } from "../shared/mounting.js" */
/** @import { HeldRun } from "../shared/payloads.js" */

/** @param {Component<HeldRun>} component */
export default function run(component) {
  const data = payloadOf(component);
  if (data) hold(data);
}
