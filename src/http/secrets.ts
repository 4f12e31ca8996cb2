/** Replaces a redacted secret. */
export const REDACTED = '[redacted]';

/** What replaces a secret in a text. */
export type Mark = (secret: string) => string;

const HIDE: Mark = () => REDACTED;

/** Whether something in a text was redacted, with or without a keyed hash in the mark. */
export function isRedacted(text: string): boolean {
  return text.includes('[redacted');
}

/** Header fields that always contain credentials. */
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
  // Webhooks of these providers are not signed: the field is the secret itself.
  'x-gitlab-token',
  'x-orbit-signature',
]);

/** Tokens that a login gate or another proxy passes on, such as `service-auth-oauth-access-token`. */
const TOKEN_FIELD = /(?:^|-)(?:access|refresh|id)-token$/;

/** Header fields that contain a URL, whose query may be that of a login. */
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

/** Parameters that are secret only in login messages; elsewhere `code` may be a coupon or a country. */
const LOGIN_PARAMETERS: ReadonlySet<string> = new Set(['code', 'state', 'nonce']);
/** Two of these parameters identify a login message (RFC 6749 §4.1.1, §4.1.2). */
const LOGIN_SIGNS: ReadonlySet<string> = new Set(['code', 'state', 'error', 'response_type', 'iss']);

/** Whether a field is or may be secret; `lower` is its name in lower case. */
export function mayHoldSecret(lower: string): boolean {
  return isCredential(lower) || lower === 'cookie' || lower === 'set-cookie' || URLS.has(lower);
}

/** Whether the whole value of a field is a secret. */
export function isCredential(lower: string): boolean {
  return CREDENTIALS.has(lower) || TOKEN_FIELD.test(lower);
}

/**
 * A field's value without its secrets: the scheme of credentials, cookie names and attributes, and URLs are
 * kept, because they are useful and not secret.
 */
export function withoutSecret(lower: string, value: string): string {
  if (lower === 'cookie' || lower === 'set-cookie' || isCredential(lower)) return redactedField(lower, value);
  return URLS.has(lower) ? urlWithoutSecrets(value) : value;
}

/** The redacted value of a field that is known to be secret. Cookies are marked by their values as expressions read them. */
export function redactedField(lower: string, value: string, mark = HIDE): string {
  if (lower === 'cookie') return redactedCookies(value, mark);
  if (lower === 'set-cookie')
    return value.replace(
      /^([^=;]*=)?([^;]*)/,
      (_, name: string | undefined, own: string) => `${name ?? ''}${mark(own)}`,
    );
  const [scheme = ''] = /^(?:Basic|Bearer|Digest|Negotiate)\s/i.exec(value) ?? [];
  return scheme + mark(value.slice(scheme.length));
}

/** Each pair with what `mark` makes of its value, or of the whole where it has no name. One pass, without a pattern. */
function redactedCookies(value: string, mark: Mark): string {
  let out = '';
  let equals = -1;
  let copied = 0;
  for (let from = textFrom(value, 0); from < value.length; from = textFrom(value, copied)) {
    const to = positionOf(';', value, from);
    // Found once for all pairs before it, so that many without a name take linear time.
    if (equals < from) equals = positionOf('=', value, from);
    if (equals < to) out += value.slice(copied, equals + 1) + marked(value, equals + 1, to, mark);
    else out += value.slice(copied, from) + mark(value.slice(from, to));
    copied = to;
  }
  return out + value.slice(copied);
}

/** Where the next character is that is neither a semicolon nor a space: a client can send a million semicolons. */
function textFrom(value: string, from: number): number {
  let at = from;
  while (at < value.length && isBetweenPairs(value.charCodeAt(at))) at++;
  return at;
}

function isBetweenPairs(code: number): boolean {
  return code === 0x3b || code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;
}

function positionOf(character: string, text: string, from: number): number {
  const found = text.indexOf(character, from);
  return found < 0 ? text.length : found;
}

function marked(value: string, from: number, to: number, mark: Mark): string {
  return mark === HIDE ? REDACTED : mark(unquoted(value.slice(from, to).trim()));
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

/** A URL, or text that begins with one, without the secrets in its query and fragment. */
export function urlWithoutSecrets(text: string, mark = HIDE): string {
  const start = Math.min(positionOf('?', text, 0), positionOf('#', text, 0));
  // What holds for each query of the text holds for the whole.
  if (start === text.length || !MAY_BE_SECRET.test(text.slice(start + 1))) return text;
  const path = text.slice(0, start);
  const parts = text.slice(start + 1).split('#');
  return `${path}${text[start]!}${parts.map((query) => queryWithoutSecrets(query, path, mark)).join('#')}`;
}

const MAY_BE_SECRET = /%|code|state|token|secret|verifier|assertion|nonce|key|pass|saml|amz/i;

/**
 * A query without its secrets: the parameters that are always secret, and those of login messages if it is
 * one.
 */
export function queryWithoutSecrets(query: string, path: string, mark = HIDE): string {
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
      return isSecret && equals >= 0 ? piece.slice(0, equals + 1) + mark(piece.slice(equals + 1)) : piece;
    })
    .join('&');
}

/** The name of a parameter as form parsers read it. */
function nameOf(piece: string): string {
  const equals = piece.indexOf('=');
  const name = (equals < 0 ? piece : piece.slice(0, equals)).toLowerCase();
  return name.includes('%') ? name.replaceAll(/%([0-9a-f]{2})/g, decoded).toLowerCase() : name;
}

function decoded(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
