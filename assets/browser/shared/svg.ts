/** No browser translates a drawing: its words have places of their own length. No property of a drawing: false would take it away. */
export const UNTRANSLATED: object = { translate: "no" };
