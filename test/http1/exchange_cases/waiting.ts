/** Cases that the plane does not hold yet, as `group: case`; each must go from here when it does. */
// table: names of cases
export const WAITING: ReadonlySet<string> = new Set([]);
