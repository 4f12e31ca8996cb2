/** Times that a request may be handed on inside the edge; one more is taken for a loop. */
export const HOP_LIMIT = 8;
