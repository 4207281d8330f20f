// A component without a look: what Streamlit gives it goes to the stage, so the stage itself need not be sent again.

import { publish } from "../shared/channel.js";
import { payloadOf } from "../shared/mounting.js";

/** @import { Component } from "../shared/mounting.js" */
/** @import { FeedPayload } from "../shared/payloads.js" */

/** @param {Component<FeedPayload>} component */
export default function feed(component) {
  const data = payloadOf(component);
  if (data) publish(data);
}
