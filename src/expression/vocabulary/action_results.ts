/**
 * What actions leave behind for the expressions after them, under `actions.<service>.<action>`. Only the last
 * execution of an action type is kept. An action that has not run is absent: `has(actions.….rate_limit)`.
 *
 * A result is a plain record of run-time values with the members that its row below declares; members
 * marked optional may be left out. Maps in it are made with `stringMap()` or `headerFields()`.
 */
import type { ClientCertificateFacts } from '../../crypto/certificate_facts.ts';
import { BOOL, DYN, INT, STRING, TIMESTAMP, headerMap, list, map, object } from '../types.ts';
import type { Field, Type } from '../types.ts';
import type { Value } from '../values.ts';
import { CERTIFICATE } from './certificates.ts';
import type { Phase } from './phase.ts';

/** A result as an action gives it: members of the row, each a run-time value or a record again. */
export type ActionResult = Readonly<Record<string, Value | ClientCertificateFacts | undefined>>;
export type ActionResults = Readonly<Record<string, ActionResult | undefined>>;

export interface ActionRow {
  /** Name below `actions.<service>.`. */
  readonly name: string;
  /** Type of the action in a policy. */
  readonly action: string;
  /** The first phase in which the action runs: there and later its result is visible. */
  readonly since: Phase;
  readonly doc: string;
  readonly type: Type;
}

type Member = Field & { readonly read: (record: Record<string, Value>) => Value | undefined };

/** Results are read now and then, not in every rule: one keyed read for all of them is enough. */
function record(name: string, members: Readonly<Record<string, readonly [Type, string, 'optional'?]>>): Type {
  const fields: Record<string, Member> = {};
  for (const [key, [type, doc, isOptional]] of Object.entries(members)) {
    fields[key] = { type, doc, optional: isOptional === 'optional', read: (from) => from[key] };
  }
  return object(name, fields);
}

const ERROR = record('ActionError', {
  code: [STRING, 'Code of the error.'],
  message: [STRING, 'What went wrong.'],
});
const error = [ERROR, 'Why the action could not do its work.', 'optional'] as const;

const CREDENTIALS = record('Credentials', {
  presented: [BOOL, 'Whether the request carries credentials.'],
  username: [STRING, 'User name of the credentials.', 'optional'],
  authorized: [BOOL, 'Whether they are among the configured ones.'],
});

const ATTEMPT = record('HttpAttempt', {
  resolved_ip: [STRING, 'Address that was dialled.', 'optional'],
  response_header: [headerMap(), 'Header of the response.', 'optional'],
  response_status_code: [INT, 'Status of the response.', 'optional'],
  response_time_ms: [INT, 'Milliseconds until the response.', 'optional'],
  error: [ERROR, 'Why there is no response.', 'optional'],
});
const SUBREQUEST = record('HttpSubrequest', {
  method: [STRING, 'Method.'],
  header: [headerMap(), 'Header.'],
  url: [STRING, 'URL.'],
  body: [STRING, 'Body.'],
});
const SUBRESPONSE = record('HttpSubresponse', {
  resolved_ip: [STRING, 'Address that was dialled.'],
  header: [headerMap(), 'Header.'],
  status_code: [INT, 'Status.'],
  time_ms: [INT, 'Milliseconds until the response.'],
  body: [STRING, 'Body.'],
});

/** `last_attempt` of a retry condition. */
export const LAST_ATTEMPT = record('LastAttempt', {
  req: [SUBREQUEST, 'The request that was sent.'],
  res: [SUBRESPONSE, 'Its response, when there was one.', 'optional'],
  error: [ERROR, 'Why there was none.', 'optional'],
});

const TOKEN = record('Token', {
  header: [map(STRING, DYN), 'Header of the token, decoded.'],
  location: [STRING, 'Where it was found: `header` or `body`.'],
  location_property: [STRING, 'Name of the field that held it.'],
  payload: [map(STRING, DYN), 'Claims, decoded.'],
  signature: [STRING, 'Signature as written.'],
  verified: [BOOL, 'Whether the signature and the claims are good.'],
});

const LOGIN = {
  access_token: [STRING, 'Access token.', 'optional'],
  refresh_token: [STRING, 'Refresh token.', 'optional'],
  expires_at: [TIMESTAMP, 'When the access token expires.', 'optional'],
  session_timed_out: [BOOL, 'Whether the session was idle too long.'],
  session_max_duration_reached: [BOOL, 'Whether the session has lasted as long as it may.'],
  userinfo_refreshed: [BOOL, 'Whether the identity was read again.'],
  error,
} as const;

const IDENTITY = {
  id: [STRING, 'Identifier of the identity.'],
  email: [STRING, 'E-mail address.', 'optional'],
  name: [STRING, 'Name.', 'optional'],
  provider_user_id: [STRING, 'Identifier at the provider.', 'optional'],
} as const;

const MATCHED_RULE = record('MatchedRule', {
  id: [STRING, 'Number of the rule.'],
  message: [STRING, 'What the rule looks for.'],
  severity: [STRING, 'Severity.'],
  data: [STRING, 'What it found.'],
});
const INSPECTION = {
  decision: [STRING, '`allow` or `deny`.'],
  anomaly_score: [INT, 'Sum of the scores of all matched rules.'],
  anomaly_score_threshold: [INT, 'The sum from which on it denies.'],
  matched_rules: [list(MATCHED_RULE), 'Rules that matched.'],
  error,
} as const;

const REPLACEMENT = record('Replacement', {
  replacement_index: [INT, 'Number of the replacement in the configuration, from 0.'],
  matched_content: [STRING, 'The text that it replaced.'],
});
const REPLACEMENTS = { replacements: [list(REPLACEMENT), 'What was replaced, in order.'], error } as const;

const NEW_URL = {
  matches: [list(STRING), 'The match and its groups.'],
  url: [STRING, 'The URL that came out.'],
  error,
} as const;

const Q: Phase = 'on_http_request';
const S: Phase = 'on_http_response';
const T: Phase = 'on_tcp_connect';

export const ACTION_ROWS: readonly ActionRow[] = [
  row('add_headers', 'add-headers', Q, 'Header fields that were added.', {
    headers_added: [map(STRING, STRING), 'Added fields by name.'],
  }),
  row('remove_headers', 'remove-headers', Q, 'Header fields that were removed.', {
    headers_removed: [list(STRING), 'Names of the fields that were there and are gone.'],
  }),
  row('basic_auth', 'basic-auth', Q, 'How basic authentication went.', {
    credentials: [CREDENTIALS, 'The credentials of the request.'],
    error,
  }),
  row('circuit_breaker', 'circuit-breaker', Q, 'How the circuit breaker decided.', { error }),
  row('compress', 'compress-response', S, 'How the response is compressed.', {
    already_compressed: [BOOL, 'Whether the upstream had compressed it.'],
    negotiated_algorithm: [STRING, 'The coding that was chosen; empty for none.'],
  }),
  row('forward_internal', 'forward-internal', T, 'How forwarding went.', { error }),
  row('http_request', 'http-request', Q, 'The control request and its response.', {
    attempts: [list(ATTEMPT), 'All attempts, in order.'],
    req: [SUBREQUEST, 'The request that was sent last.'],
    res: [SUBRESPONSE, 'Its response, when there was one.', 'optional'],
    error,
  }),
  row('jwt_validation', 'jwt-validation', Q, 'The tokens of the request.', {
    tokens: [list(TOKEN), 'Tokens in the order of the configuration.'],
    error,
  }),
  row('log', 'log', T, 'What was logged.', { metadata: [map(STRING, DYN), 'The record.'] }),
  row('oauth', 'oauth', Q, 'The login of the visitor.', {
    identity: [
      record('OauthIdentity', {
        ...IDENTITY,
        current_provider_session_id: [STRING, 'Session at the provider.', 'optional'],
      }),
      'Who is logged in.',
      'optional',
    ],
    ...LOGIN,
  }),
  row('oidc', 'openid-connect', Q, 'The login of the visitor.', {
    identity: [
      record('OidcIdentity', {
        ...IDENTITY,
        current_session_id: [STRING, 'Session.', 'optional'],
      }),
      'Who is logged in.',
      'optional',
    ],
    identity_token: [STRING, 'Identity token.', 'optional'],
    ...LOGIN,
  }),
  row(
    'owasp_crs_request',
    'owasp-crs-request',
    Q,
    'What the core rule set found in the request.',
    INSPECTION,
  ),
  row(
    'owasp_crs_response',
    'owasp-crs-response',
    S,
    'What the core rule set found in the response.',
    INSPECTION,
  ),
  row('rate_limit', 'rate-limit', Q, 'How the rate limit decided.', {
    bucket_key: [list(DYN), 'Values that name the bucket.'],
    limited: [BOOL, 'Whether the request is beyond the limit.'],
    error,
  }),
  row('redirect', 'redirect', Q, 'Where the request was sent.', NEW_URL),
  row('url_rewrite', 'url-rewrite', Q, 'What became of the URL.', NEW_URL),
  row('restrict_ips', 'restrict-ips', T, 'How the address was judged.', {
    action: [STRING, '`allow` or `deny`.'],
    matched_cidr: [STRING, 'The range that decided; empty when none did.'],
    error,
  }),
  row('terminate_tls', 'terminate-tls', T, 'The TLS session.', {
    cipher_suite: [STRING, 'Cipher suite.'],
    version: [STRING, 'TLS version.'],
    client: [CERTIFICATE, 'Certificate of the client.', 'optional'],
    server: [CERTIFICATE, 'Certificate of the server.', 'optional'],
    error_code: [STRING, 'Code of the error.', 'optional'],
    error_message: [STRING, 'What went wrong.', 'optional'],
  }),
  row('verify_webhook', 'verify-webhook', Q, 'How the signature was judged.', {
    verified: [BOOL, 'Whether the signature is good.'],
    error,
  }),
  row(
    'request_body_find_replace',
    'request-body-find-replace',
    Q,
    'What was replaced in the body.',
    REPLACEMENTS,
  ),
  row(
    'response_body_find_replace',
    'response-body-find-replace',
    S,
    'What was replaced in the body.',
    REPLACEMENTS,
  ),
];

function row(
  name: string,
  action: string,
  since: Phase,
  doc: string,
  members: Parameters<typeof record>[1],
): ActionRow {
  const words = name.split('_').map((word) => word[0]!.toUpperCase() + word.slice(1));
  return { name, action, since, doc, type: record(`${words.join('')}Result`, members) };
}
