/** What goes wrong because of what was asked for: its message is a sentence for the visitor. */
export class PlainError extends Error {}
