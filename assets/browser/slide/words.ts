import SLIDE from "../../texts/browser/slide.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(SLIDE);
