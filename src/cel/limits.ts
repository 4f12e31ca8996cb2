/**
 * Cost limits of expressions. Exceeding a limit of the source is a diagnostic; exceeding the budget of an
 * evaluation is an error value. `regex/pattern.ts` limits length and program size of patterns.
 */

/** Maximum length of an expression's source, in UTF-16 units. */
export const MAX_SOURCE_LENGTH = 32_768;

/** Maximum height of the syntax tree: brackets, calls, operator chains. A `&&` or `||` chain counts once. */
export const MAX_DEPTH = 250;

/** Maximum number of nodes of an expression: its program size. */
export const MAX_NODES = 8_192;

/**
 * Maximum units of one evaluation. An iteration of a loop costs as many units as its body has nodes; a value
 * that is created or traversed costs one unit for 8 characters or bytes, or for one element; a pattern costs one for
 * 8 steps of its program, at one step for each instruction and character.
 */
export const EVALUATION_BUDGET = 1_000_000;

/** Maximum units of all evaluations of one exchange together. */
export const EXCHANGE_BUDGET = 4_000_000;

/** Characters or bytes per unit. */
export const CHARACTERS_PER_UNIT = 8;

/** Steps of a pattern's program, instructions times characters at worst, that count as one unit. */
export const STEPS_PER_UNIT = 8;

/** Units for compiling one instruction of a pattern that is not constant. */
export const UNITS_PER_COMPILED_INSTRUCTION = 20;

/** Walking a string up to this length is not charged by itself: the node that does it bounds it. */
export const LONG_STRING = 256;

/** The remaining budget of the current evaluation. */
export interface Meter {
  left: number;
}
