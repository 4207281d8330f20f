// A component without a look: the run of a stage, which Streamlit sends only when the run is another one.

import { hold } from "../shared/channel.js";
import { payloadOf, type Component } from "../shared/mounting.js";
import type { HeldRun } from "../dist/payloads.js";

export default function run(component: Component<HeldRun>) {
  const data = payloadOf(component);
  if (data) hold(data);
}
