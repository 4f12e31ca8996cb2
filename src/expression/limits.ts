/**
 * What an expression may cost. Exceeding a limit of the source is a diagnostic; exceeding the budget of an
 * evaluation is an error value. Length and program size of patterns are limited by `regex/pattern.ts`.
 */

/** Length of one expression's source, in UTF-16 units. */
export const MAX_SOURCE_LENGTH = 32_768;

/** Height of the syntax tree: brackets, calls, operator chains. A `&&` or `||` chain counts once. */
export const MAX_DEPTH = 250;

/** Nodes of one expression: its program size. */
export const MAX_NODES = 8_192;

/**
 * Units that one evaluation may take. A turn of a loop takes as many units as its body has nodes; a value
 * that is made or walked takes one unit for 8 characters or bytes, or for one element.
 */
export const EVALUATION_BUDGET = 1_000_000;

/** Characters or bytes that count as one unit. */
export const CHARACTERS_PER_UNIT = 8;

/** Walking a string up to this length is not charged by itself: the node that does it bounds it. */
export const LONG_STRING = 256;

/** What is left of the budget of the running evaluation. */
export interface Meter {
  left: number;
}
