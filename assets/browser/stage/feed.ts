// A component without a look: what Streamlit gives it goes to the stage, so the stage itself need not be sent again.

import { publish } from "../shared/channel.js";
import { payloadOf, type Component } from "../shared/mounting.js";
import type { FeedPayload } from "../dist/payloads.js";

export default function feed(component: Component<FeedPayload>) {
  const data = payloadOf(component);
  if (data) publish(data);
}
