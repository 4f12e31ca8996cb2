import { listMembers } from '../../http/fields.ts';
import { type Variable, variable } from '../../cel/scope.ts';
import { DYN, INT, STRING, TIMESTAMP, headerMap, list, map } from '../../cel/types.ts';
import { type Activation, contentLength, trailerMap } from './activation.ts';
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

/** The request; known from `on_http_request` on. */
export const REQUEST_VARIABLES: readonly Variable<Activation>[] = [
  variable('req.method', STRING, 'Method, as received.', { read: (a: Activation) => a.request.method }),
  variable('req.host', STRING, 'Field Host as received.', { read: (a: Activation) => a.request.authority }),
  variable('req.version', STRING, 'Protocol: `HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`.', {
    read: (a: Activation) => VERSIONS[a.request.version] ?? '',
  }),
  variable('req.url', URL_TYPE, 'URL of the request.', {
    read: (a: Activation) => a.url,
    readText: (a: Activation) => rawUrlOf(a.request),
  }),
  // The parts that rules read most need no URL object.
  variable('req.url.authority', STRING, 'Host and port as written.', {
    read: (a: Activation) => a.request.authority,
  }),
  variable('req.url.host', STRING, 'Host in lower case, without port.', {
    read: (a: Activation) => a.request.host,
  }),
  variable('req.url.path', STRING, 'Path in the canonical form that routes match.', {
    read: (a: Activation) => a.request.path,
  }),
  variable('req.url.query', STRING, 'Query without its question mark; empty if there is none.', {
    read: (a: Activation) => a.request.query ?? '',
  }),
  variable('req.url.scheme', STRING, '`http` or `https`.', { read: (a: Activation) => a.request.scheme }),
  variable('req.headers', headerMap(), 'Header fields: lists of values by lower-case name.', {
    read: (a: Activation) => a.requestHeaders,
  }),
  variable('req.trailers', headerMap(), 'Trailer fields: lists of values by lower-case name.', {
    read: (a: Activation) => trailerMap(a.request.trailers),
  }),
  variable('req.cookies', map(STRING, list(COOKIE)), 'Cookies by name.', {
    read: (a: Activation) => a.requestCookies,
  }),
  variable('req.content_type', MEDIA_TYPE, 'Media type of the body in lower case; empty if not given.', {
    read: (a: Activation) => a.requestMedia,
    readText: (a: Activation) => a.requestMedia.essence,
  }),
  variable(
    'req.content_encoding',
    list(STRING),
    'Codings of the body, in the order in which they were applied.',
    {
      read: (a: Activation) => listMembers(a.request.headers, 'content-encoding'),
    },
  ),
  variable('req.content_length', INT, 'Length of the body in bytes, if given.', {
    optional: true,
    read: (a: Activation) => contentLength(a.request.headers),
  }),
  variable('req.location', STRING, 'Field Location; empty if absent.', {
    read: (a: Activation) => a.requestField('location'),
  }),
  variable('req.user_agent', USER_AGENT, 'Field User-Agent; empty if absent.', {
    read: (a: Activation) => a.userAgent,
    readText: (a: Activation) => a.requestField('user-agent'),
  }),
  variable('req.ts.header_received', TIMESTAMP, 'Time at which the header was complete.', {
    optional: true,
    read: (a: Activation) => timestamp(a.request.receivedMs),
  }),
  variable('req.ts.body_received', TIMESTAMP, 'Time at which the body was complete, if it is.', {
    optional: true,
    read: (a: Activation) => timestamp(a.request.bodyReceivedMs),
  }),
];

/** The response; known in `on_http_response`. */
export const RESPONSE_VARIABLES: readonly Variable<Activation>[] = [
  variable('res.status_code', INT, 'Status.', { read: (a: Activation) => a.response.status }),
  variable('res.headers', headerMap(), 'Header fields: lists of values by lower-case name.', {
    read: (a: Activation) => a.responseHeaders,
  }),
  variable('res.trailers', headerMap(), 'Trailer fields: lists of values by lower-case name.', {
    read: (a: Activation) => trailerMap(a.response.trailers),
  }),
  variable(
    'res.cookies',
    map(STRING, list(SET_COOKIE)),
    'Cookies set by the response, by name, the longest path first.',
    {
      read: (a: Activation) => a.responseCookies,
    },
  ),
  variable('res.content_type', MEDIA_TYPE, 'Media type of the body in lower case; empty if not given.', {
    read: (a: Activation) => a.responseMedia,
    readText: (a: Activation) => a.responseMedia.essence,
  }),
  variable(
    'res.content_encoding',
    list(STRING),
    'Codings of the body, in the order in which they were applied.',
    {
      read: (a: Activation) => listMembers(a.response.headers, 'content-encoding'),
    },
  ),
  variable('res.content_length', INT, 'Length of the body in bytes, if given.', {
    optional: true,
    read: (a: Activation) => contentLength(a.response.headers),
  }),
  variable('res.location', STRING, 'Field Location; empty if absent.', {
    read: (a: Activation) => a.responseField('location'),
  }),
];

/** The endpoint, the time, and what the policy itself has set. */
export const POLICY_VARIABLES: readonly Variable<Activation>[] = [
  variable('endpoint.id', STRING, 'Identifier of the endpoint.', {
    read: (a: Activation) => a.surroundings.endpoint.id,
  }),
  variable('endpoint.host', STRING, 'Host of the endpoint.', {
    read: (a: Activation) => a.surroundings.endpoint.host,
  }),
  variable('endpoint.port', INT, 'Port of the endpoint.', {
    read: (a: Activation) => a.surroundings.endpoint.port,
  }),
  variable('endpoint.addr', STRING, 'Host and port of the endpoint.', {
    read: ({ surroundings: { endpoint } }: Activation) => `${endpoint.host}:${endpoint.port}`,
  }),
  variable('endpoint.protocol', STRING, '`http`, `https`, `tcp` or `tls`.', {
    read: (a: Activation) => a.surroundings.endpoint.protocol,
  }),
  variable('endpoint.url', STRING, 'URL of the endpoint, without the port if it is the default.', {
    read: endpointUrl,
  }),
  variable(
    'time.now',
    STRING,
    'The time in RFC 3339 format; `timestamp(time.now)` converts it to a timestamp.',
    {
      read: (a: Activation) => a.now,
    },
  ),
  variable('vars', map(STRING, DYN), 'Variables set by `set-vars` in this phase.', {
    read: (a: Activation) => a.vars,
  }),
];

const USUAL_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

function endpointUrl({ surroundings: { endpoint } }: Activation): string {
  const { protocol, host, port } = endpoint;
  return USUAL_PORTS[protocol] === port ? `${protocol}://${host}` : `${protocol}://${host}:${port}`;
}

function timestamp(milliseconds: number | undefined) {
  return milliseconds === undefined ? undefined : timestampOfMs(milliseconds);
}
