// The stage as a component of Streamlit: one Stage a mount.

import { mount } from "../shared/mounting.js";
import { Stage } from "./stage.js";

export default mount(".stage", (root) => new Stage(root));
