/** Stands where a secret was taken out. */
export const REDACTED = '[redacted]';

/** Header fields that prove who somebody is, whatever they hold. */
// table: names of fields
export const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'x-auth-token',
  'x-csrf-token',
  'x-xsrf-token',
  'x-forwarded-access-token',
  'x-amz-security-token',
]);

/** Tokens that a gate or another proxy hands on: `service-auth-oauth-access-token`. */
const TOKEN_FIELD = /(?:^|-)(?:access|refresh|id)-token$/;

/** Header fields that hold a URL, whose query may be that of a login. */
const URLS: ReadonlySet<string> = new Set(['location', 'content-location', 'referer', 'refresh']);

/** Parameters that are secret in every query. */
// table: names of parameters
export const SECRET_PARAMETERS: ReadonlySet<string> = new Set([
  'access_token',
  'api_key',
  'apikey',
  'assertion',
  'client_assertion',
  'client_secret',
  'code_verifier',
  'id_token',
  'id_token_hint',
  'logout_token',
  'passwd',
  'password',
  'refresh_token',
  'relaystate',
  'samlrequest',
  'samlresponse',
  'token',
  'x-amz-security-token',
  'x-amz-signature',
]);

/** Parameters that are secret in the messages of a login alone: elsewhere they are codes of coupons and countries. */
const LOGIN_PARAMETERS: ReadonlySet<string> = new Set(['code', 'state', 'nonce']);
/** What tells that a query is such a message: two of these (RFC 6749 §4.1.1, §4.1.2). */
const LOGIN_SIGNS: ReadonlySet<string> = new Set(['code', 'state', 'error', 'response_type', 'iss']);

/** Whether a field holds a secret or may hold one; `lower` is its name in lower case. */
export function mayHoldSecret(lower: string): boolean {
  return isCredential(lower) || lower === 'cookie' || lower === 'set-cookie' || URLS.has(lower);
}

/** Whether the whole value of a field is a secret. */
export function isCredential(lower: string): boolean {
  return CREDENTIALS.has(lower) || TOKEN_FIELD.test(lower);
}

/**
 * A field's value as it may be told: the scheme of credentials, the names of cookies and their attributes and URLs
 * stay, because they are no secrets and tell much.
 */
export function withoutSecret(lower: string, value: string): string {
  if (lower === 'cookie' || lower === 'set-cookie' || isCredential(lower)) return redactedField(lower, value);
  return URLS.has(lower) ? urlWithoutSecrets(value) : value;
}

/** The value of a field that is known to be secret. */
export function redactedField(lower: string, value: string): string {
  if (lower === 'cookie') {
    return value.replaceAll(/[^;]+/g, (pair) => {
      const equals = pair.indexOf('=');
      return equals < 0 ? pair.replace(/\S.*/, REDACTED) : pair.slice(0, equals + 1) + REDACTED;
    });
  }
  if (lower === 'set-cookie')
    return value.replace(/^(?:([^=;]*=)[^;]*|[^;]*)/, (_, name = '') => `${name}${REDACTED}`);
  const scheme = /^(Basic|Bearer|Digest|Negotiate)\s/i.exec(value);
  return scheme === null ? REDACTED : `${scheme[1]!} ${REDACTED}`;
}

/** A URL, or any text that begins with one, without the secrets of its query and its fragment. */
export function urlWithoutSecrets(text: string): string {
  const mark = text.search(/[?#]/);
  if (mark < 0) return text;
  const path = text.slice(0, mark);
  const told = text.slice(mark + 1).split('#');
  return `${path}${text[mark]!}${told.map((query) => queryWithoutSecrets(query, path)).join('#')}`;
}

const MAY_BE_SECRET = /%|code|state|token|secret|verifier|assertion|nonce|key|pass|saml|amz/i;

/** A query without secrets: those of every query, and where it is a message of a login those of one. */
export function queryWithoutSecrets(query: string, path: string): string {
  if (!MAY_BE_SECRET.test(query)) return query;
  const pieces = query.split('&');
  const names = pieces.map(nameOf);
  const signs = names.filter((name) => LOGIN_SIGNS.has(name)).length;
  const isLogin = signs > 1 || path.endsWith('/callback');
  return pieces
    .map((piece, at) => {
      const name = names[at]!;
      const isSecret = SECRET_PARAMETERS.has(name) || (isLogin && LOGIN_PARAMETERS.has(name));
      const equals = piece.indexOf('=');
      return isSecret && equals >= 0 ? piece.slice(0, equals + 1) + REDACTED : piece;
    })
    .join('&');
}

/** A parameter's name as readers of forms take it. */
function nameOf(piece: string): string {
  const equals = piece.indexOf('=');
  const name = (equals < 0 ? piece : piece.slice(0, equals)).toLowerCase();
  return name.includes('%') ? name.replaceAll(/%([0-9a-f]{2})/g, decoded).toLowerCase() : name;
}

function decoded(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
