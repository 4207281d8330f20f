import COMPONENTS from "../../texts/browser/components.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(COMPONENTS);
