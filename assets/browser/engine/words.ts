import ENGINE from "../../texts/browser/engine.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(ENGINE);
