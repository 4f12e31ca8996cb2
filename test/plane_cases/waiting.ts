/** Cases that wait for the wire of our own, as `group: case`; each must go from here when it holds. */
// table: names of cases
export const WAITING: ReadonlySet<string> = new Set([
  'Request line and fields: two spaces after the method',
  'Request line and fields: two spaces before the version',
  'Trailers: of a request cannot change the framing',
  'Trailers: of a response cannot change the framing',
  'Expect and 1xx: 100 from the upstream',
  'Expect and 1xx: 100 that nobody asked for does no harm',
  'Expect and 1xx: Expect without content',
  'Expect and 1xx: 100-continue and another',
  'Expect and 1xx: 103 is forwarded',
  'Expect and 1xx: two 103 are forwarded',
  'Expect and 1xx: 103 loses what is of one hop',
  'Expect and 1xx: an answer before the content is asked for',
  'Expect and 1xx: a flood of interim responses',
  'Replies: an eighth bit in a value',
  'Faulty upstreams: gzip, chunked',
  'Faulty upstreams: chunked twice',
  'Faulty upstreams: an unknown coding',
  'HTTP/1.0, close, and clients that leave: leaves in its head',
]);
