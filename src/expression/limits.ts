/** What an expression may cost. Exceeding a limit of source or program is a diagnostic; of an evaluation, an error value. */

/** Length of one expression's source, in UTF-16 units. */
export const MAX_SOURCE_LENGTH = 32_768;

/** Height of the syntax tree: brackets, calls, operator chains. `&&` and `||` chains count once. */
export const MAX_DEPTH = 250;

/** Nodes of one expression: its program size. */
export const MAX_NODES = 8_192;

/** Length of a pattern, constant or computed, in UTF-16 units. */
export const MAX_PATTERN_LENGTH = 2_048;

/**
 * Units that one evaluation may take. A node is one unit, once for each turn of a loop around it; a value
 * that is made or walked is one unit for 8 characters or bytes, or for one element (`function_table.ts`).
 */
export const EVALUATION_BUDGET = 1_000_000;

/** Characters or bytes that count as one unit. */
export const CHARACTERS_PER_UNIT = 8;
