/** Cases that the plane does not hold yet, as `group: case`; each must go from here when it does. */
// table: names of cases
export const WAITING: ReadonlySet<string> = new Set([
  // The client gets nothing at all, and the event says 200: what was in the same read as the fault is thrown away.
  'Faulty upstreams: a head, content and a chunk size that is none, at once',
]);
