import { asciiLower } from '../../http/ascii.ts';
import {
  type JwsAlgorithm,
  type JwsKey,
  JWS_ALGORITHMS,
  fromBase64Url,
  jwsVerifies,
  readJwk,
} from '../../crypto/jws.ts';

/** Maximum number of URLs of key sets, in one list and in all. */
export const KEY_SOURCE_LIMIT = 100;
/** How long a key set is used before it is fetched again. */
export const KEYS_KEPT_MS = 15 * 60_000;

/** A parsed signed token (RFC 7515 §3.1), not verified yet. */
export interface Token {
  readonly algorithm: JwsAlgorithm;
  /** `kid` of the header; null if absent. */
  readonly keyId: string | null;
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly signingInput: string;
  readonly signature: Uint8Array;
  /** The third part as written. */
  readonly signatureText: string;
}

/** Why a token is refused. */
export type TokenFault =
  | 'malformed'
  | 'algorithm'
  | 'type'
  | 'no_key'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'expired'
  | 'not_yet_valid';

export interface TokenProblem {
  readonly fault: TokenFault;
  /** One sentence, for the log and the trace. */
  readonly message: string;
}

/** Maximum length of a token, in characters. */
const TOKEN_LIMIT_UNITS = 32_768;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a token in compact form. Encrypted tokens and critical extensions (RFC 7515 §4.1.11) are refused. */
export function readToken(text: string): Token | TokenProblem {
  const parts = text.length > TOKEN_LIMIT_UNITS ? [] : text.split('.');
  if (parts.length !== 3) return problem('malformed', 'this is not a signed token with three parts');
  const [headerText, payloadText, signatureText] = parts as [string, string, string];
  const header = readObject(headerText);
  const payload = readObject(payloadText);
  const signature = fromBase64Url(signatureText);
  if (header === null || payload === null || signature === null) {
    return problem('malformed', 'a part of the token is not valid base64url or JSON');
  }
  if ('crit' in header)
    return problem('malformed', 'the token requires critical extensions, which are not supported');
  const { alg, kid } = header;
  const algorithm = JWS_ALGORITHMS.find((known) => known === alg);
  if (algorithm === undefined) return problem('algorithm', `the algorithm ${shown(alg)} is not supported`);
  const signingInput = `${headerText}.${payloadText}`;
  const keyId = typeof kid === 'string' ? kid : null;
  return { algorithm, keyId, header, payload, signingInput, signature, signatureText };
}

function readObject(part: string): Readonly<Record<string, unknown>> | null {
  const bytes = fromBase64Url(part);
  if (bytes === null) return null;
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

/** Requirements of a valid token. */
export interface Requirements {
  readonly algorithms: readonly JwsAlgorithm[];
  readonly issuers: readonly string[];
  /** Null allows any audience. */
  readonly audiences: readonly string[] | null;
  /** Required `typ`, in lower case and without `application/`; null allows any type. */
  readonly type: string | null;
  /** Whether the token must have an expiry. */
  readonly expires: boolean;
}

/** The problem of a token's algorithm or type, before its signature is verified; null if there is none. */
export function headerProblem(token: Token, required: Requirements): TokenProblem | null {
  if (!required.algorithms.includes(token.algorithm)) {
    return problem('algorithm', `the algorithm ${token.algorithm} is not allowed`);
  }
  if (required.type !== null && tokenType(token.header['typ']) !== required.type) {
    return problem('type', `the type of the token is ${shown(token.header['typ'])}, not '${required.type}'`);
  }
  return null;
}

/**
 * The type in `typ` of a header, in lower case and without `application/`, which may be omitted (RFC 7515 §4.1.9);
 * null if it is not a text.
 */
export function tokenType(typ: unknown): string | null {
  return typeof typ === 'string' ? asciiLower(typ).replace(/^application\//, '') : null;
}

/**
 * Verifies the signature with the given keys. If the token names its key, only keys with this id or without
 * an id are tried.
 */
export function signatureProblem(token: Token, keys: readonly JwsKey[]): TokenProblem | null {
  const candidates = keys.filter(
    (key) =>
      key.algorithms.includes(token.algorithm) &&
      (token.keyId === null || key.id === null || key.id === token.keyId),
  );
  if (candidates.length === 0) {
    const named = token.keyId === null ? '' : ` with the id ${shown(token.keyId)}`;
    return problem('no_key', `there is no key for ${token.algorithm}${named}`);
  }
  const signed = candidates.some((key) =>
    jwsVerifies(token.algorithm, key, token.signingInput, token.signature),
  );
  return signed ? null : problem('signature', 'the signature does not verify with any available key');
}

/** The problem of the claims (RFC 7519 §4.1) at `nowMs`; null if they are valid. */
export function claimsProblem(token: Token, required: Requirements, nowMs: number): TokenProblem | null {
  const { iss, aud, exp, nbf } = token.payload;
  if (typeof iss !== 'string' || !required.issuers.includes(iss)) {
    return problem('issuer', `the issuer ${shown(iss)} is not allowed`);
  }
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (required.audiences !== null && !required.audiences.some((each) => audiences.includes(each))) {
    return problem('audience', `the audience ${shown(aud)} is not allowed`);
  }
  const nowSeconds = nowMs / 1_000;
  if (exp === undefined ? required.expires : !isNumericDate(exp) || nowSeconds >= exp) {
    return problem('expired', exp === undefined ? 'the token has no expiry' : 'the token has expired');
  }
  if (nbf !== undefined && (!isNumericDate(nbf) || nowSeconds < nbf)) {
    return problem('not_yet_valid', 'the token is not valid yet');
  }
  return null;
}

function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Maximum number of keys per set. */
const KEYS_LIMIT = 100;

/** The usable keys of a JSON Web Key Set (RFC 7517 §5); null if it is not a key set. */
export function readKeySet(bytes: Uint8Array): readonly JwsKey[] | null {
  try {
    const set = JSON.parse(utf8.decode(bytes)) as { readonly keys?: unknown } | null;
    const listed = set?.keys;
    if (!Array.isArray(listed)) return null;
    return listed
      .slice(0, KEYS_LIMIT)
      .map(readJwk)
      .filter((key) => !('problem' in key)) as readonly JwsKey[];
  } catch {
    return null;
  }
}

/** Narrows the result of `readToken`. */
export function isTokenProblem(answer: Token | TokenProblem): answer is TokenProblem {
  return 'fault' in answer;
}

function problem(fault: TokenFault, message: string): TokenProblem {
  return { fault, message };
}

/** A value from a token, truncated for logs. */
function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
