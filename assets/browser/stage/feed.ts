// A component without a look: what Streamlit gives it goes to the stage, so the stage itself need not be sent again. It is mounted
// twice: for the run, which comes only when it is another one, and for what is new.

import { payloadOf, type Component } from "../shared/mounting.js";
import { hold, publish } from "./channel.js";
import type { FeedPayload, HeldRun } from "../dist/payloads.js";

export default function feed(component: Component<FeedPayload | HeldRun>) {
  const data = payloadOf(component);
  if (!data) return;
  if ("key" in data) hold(data);
  else publish(data);
}
