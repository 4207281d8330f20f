import GAME from "../../texts/browser/be_the_draft.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(GAME);
