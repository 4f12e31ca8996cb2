/** Maximum number of forwards inside the edge; one more is treated as a loop. */
export const HOP_LIMIT = 8;
