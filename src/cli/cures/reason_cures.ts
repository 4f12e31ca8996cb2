/** What helps when the edge itself decides so; for other reasons `explain` shows the line that decided. */
// table: cures of reasons
const CURES: Readonly<Record<string, string>> = {
  'connection.handshake':
    'Use a version of TLS and a certificate that the edge accepts; the trace says which part failed',
  'route.unknown_host': 'Correct the host, or add it to `hostports` of an edge',
  'route.no_match': 'Correct the path, or add a route; a route with `match: /` takes every path',
  'route.ambiguous_path': 'Send the path in one spelling: without `//`, `/../` and encoded slashes',
  'request.malformed': 'Correct the client: the request is not one of HTTP',
  'request.method': 'Use a registered method, in upper case',
  'request.client_unknown':
    'Have the proxy before the edge send an address, or remove the rule that needs it',
  'request.expectation': 'Send no other `Expect` than 100-continue',
  'request.timeout': 'Send the request without long pauses',
  'request.too_large': 'Send a smaller body',
  'request.target_too_long': 'Shorten the URL, or send the data in the body',
  'request.head_too_large': 'Send fewer or smaller headers; cookies are often the reason',
  'request.not_implemented': 'Use `Transfer-Encoding: chunked`, or a content length',
  'request.version': 'Use HTTP/1.1 or HTTP/2',
  'backend.none': 'Add a backend to the route',
  'backend.offline': 'Start an agent with the labels of the backend',
  'backend.no_weight': 'Give one of the children a weight above 0',
  'upstream.connect': 'Start the upstream, or correct its address; `--wait-upstream 10s` waits for it',
  'upstream.overloaded': 'Start more agents with the same labels',
  'upstream.timeout': 'Make the upstream respond faster; its log may say what it waits for',
  'upstream.reset': 'Look into the log of the upstream: it closed the connection',
  'upstream.invalid': 'Correct the upstream, or its address: something else than HTTP may listen there',
  'upstream.body_timeout': 'Send the body without long pauses',
  'upstream.body_malformed': 'Correct the client: its chunks are not those of HTTP',
  'upstream.not_dialled': 'Use a backend with an address',
  'connect.unknown_port': 'Connect to a port of an edge, or add the hostport',
  'connect.unknown_name': 'Send a server name of an edge, or add the hostport',
  'connect.no_name': 'Use a client that sends the server name (SNI)',
  'engine.bug': 'Report it, with the request and the edge file',
};

/** How to find out more about a reason, and to test for it. */
export function cureOfReason(reason: string): string {
  const own = Object.hasOwn(CURES, reason) ? `The cure: ${CURES[reason]}.\n\n` : '';
  return `${own}\`edgeproof explain METHOD URL\` shows the line of the configuration that decided, and \`--why-not NAME\` what would change it.\n\nFor example, a case of a scenario that expects it:\n\n  expect: { because: ${reason} }`;
}
