/** Maximum number of certificate authorities of one edge. */
export const AUTHORITIES_LIMIT = 10;
