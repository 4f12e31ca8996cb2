import { listMembers } from '../../http/fields.ts';
import { type Variable, variable } from '../../cel/scope.ts';
import { DYN, INT, STRING, TIMESTAMP, headerMap, list, map } from '../../cel/types.ts';
import { type Activation, contentLength, trailerMap, variables } from './activation.ts';
import { timestampOfMs } from './certificates.ts';
import { COOKIE, SET_COOKIE } from './cookies.ts';
import { MEDIA_TYPE } from './media_types.ts';
import { URL_TYPE, rawUrlOf } from './urls.ts';
import { USER_AGENT } from './user_agent_value.ts';

/** Shared strings such as `HTTP/1.1`. */
const VERSIONS: Readonly<Record<string, string>> = {
  '1.0': 'HTTP/1.0',
  '1.1': 'HTTP/1.1',
  '2.0': 'HTTP/2.0',
};

const { optional, present } = variables;

/** The request; known from `on_http_request` on. */
export const REQUEST_VARIABLES: readonly Variable<Activation>[] = [
  present('req.method', STRING, 'Method, as received.', (a) => a.request.method),
  present('req.host', STRING, 'Field Host as received.', (a) => a.request.authority),
  present(
    'req.version',
    STRING,
    'Protocol: `HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`.',
    (a) => VERSIONS[a.request.version] ?? '',
  ),
  variable('req.url', URL_TYPE, 'URL of the request.', {
    read: (a: Activation) => a.url,
    readText: (a: Activation) => rawUrlOf(a.request),
  }),
  // The parts that rules read most need no URL object.
  present('req.url.authority', STRING, 'Host and port as written.', (a) => a.request.authority),
  present('req.url.host', STRING, 'Host in lower case, without port.', (a) => a.request.host),
  present('req.url.path', STRING, 'Path in the canonical form that routes match.', (a) => a.request.path),
  present(
    'req.url.query',
    STRING,
    'Query without its question mark; empty if there is none.',
    (a) => a.request.query ?? '',
  ),
  present('req.url.scheme', STRING, '`http` or `https`.', (a) => a.request.scheme),
  present(
    'req.headers',
    headerMap(),
    'Header fields: lists of values by lower-case name.',
    (a) => a.requestHeaders,
  ),
  present('req.trailers', headerMap(), 'Trailer fields: lists of values by lower-case name.', (a) =>
    trailerMap(a.request.trailers),
  ),
  present('req.cookies', map(STRING, list(COOKIE)), 'Cookies by name.', (a) => a.requestCookies),
  variable('req.content_type', MEDIA_TYPE, 'Media type of the body in lower case; empty if not given.', {
    read: (a: Activation) => a.requestMedia,
    readText: (a: Activation) => a.requestMedia.essence,
  }),
  present(
    'req.content_encoding',
    list(STRING),
    'Codings of the body, in the order in which they were applied.',
    (a) => listMembers(a.request.headers, 'content-encoding'),
  ),
  variable('req.content_length', INT, 'Length of the body in bytes, if given.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => contentLength(a.request.headers),
  }),
  present('req.location', STRING, 'Field Location; empty if absent.', (a) => a.requestField('location')),
  variable('req.user_agent', USER_AGENT, 'Field User-Agent; empty if absent.', {
    read: (a: Activation) => a.userAgent,
    readText: (a: Activation) => a.requestField('user-agent'),
  }),
  optional('req.ts.header_received', TIMESTAMP, 'Time at which the header was complete.', (a) =>
    timestamp(a.request.receivedMs),
  ),
  optional('req.ts.body_received', TIMESTAMP, 'Time at which the body was complete, if it is.', (a) =>
    timestamp(a.request.bodyReceivedMs),
  ),
];

/** The response; known in `on_http_response`. */
export const RESPONSE_VARIABLES: readonly Variable<Activation>[] = [
  present('res.status_code', INT, 'Status.', (a) => a.response.status),
  present(
    'res.headers',
    headerMap(),
    'Header fields: lists of values by lower-case name.',
    (a) => a.responseHeaders,
  ),
  present('res.trailers', headerMap(), 'Trailer fields: lists of values by lower-case name.', (a) =>
    trailerMap(a.response.trailers),
  ),
  present(
    'res.cookies',
    map(STRING, list(SET_COOKIE)),
    'Cookies set by the response, by name, the longest path first.',
    (a) => a.responseCookies,
  ),
  variable('res.content_type', MEDIA_TYPE, 'Media type of the body in lower case; empty if not given.', {
    read: (a: Activation) => a.responseMedia,
    readText: (a: Activation) => a.responseMedia.essence,
  }),
  present(
    'res.content_encoding',
    list(STRING),
    'Codings of the body, in the order in which they were applied.',
    (a) => listMembers(a.response.headers, 'content-encoding'),
  ),
  variable('res.content_length', INT, 'Length of the body in bytes, if given.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => contentLength(a.response.headers),
  }),
  present('res.location', STRING, 'Field Location; empty if absent.', (a) => a.responseField('location')),
];

/** The endpoint, the time, and what the policy itself has set. */
export const POLICY_VARIABLES: readonly Variable<Activation>[] = [
  present('endpoint.id', STRING, 'Identifier of the endpoint.', (a) => a.surroundings.endpoint.id),
  present('endpoint.host', STRING, 'Host of the endpoint.', (a) => a.surroundings.endpoint.host),
  present('endpoint.port', INT, 'Port of the endpoint.', (a) => a.surroundings.endpoint.port),
  present(
    'endpoint.addr',
    STRING,
    'Host and port of the endpoint.',
    ({ surroundings: { endpoint } }) => `${endpoint.host}:${endpoint.port}`,
  ),
  present(
    'endpoint.protocol',
    STRING,
    '`http`, `https`, `tcp` or `tls`.',
    (a) => a.surroundings.endpoint.protocol,
  ),
  present('endpoint.url', STRING, 'URL of the endpoint, without the port if it is the default.', endpointUrl),
  present(
    'time.now',
    STRING,
    'The time in RFC 3339 format; `timestamp(time.now)` converts it to a timestamp.',
    (a) => a.now,
  ),
  present('vars', map(STRING, DYN), 'Variables set by `set-vars` in this phase.', (a) => a.vars),
];

const USUAL_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

function endpointUrl({ surroundings: { endpoint } }: Activation): string {
  const { protocol, host, port } = endpoint;
  return USUAL_PORTS[protocol] === port ? `${protocol}://${host}` : `${protocol}://${host}:${port}`;
}

function timestamp(milliseconds: number | undefined) {
  return milliseconds === undefined ? undefined : timestampOfMs(milliseconds);
}
