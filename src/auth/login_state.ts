import { CLOCKS_DIFFER_MS } from './limits.ts';
import { digest, equalTexts } from '../crypto/digest.ts';
import type { World } from '../engine/contract.ts';
import type { Conversation } from './conversation.ts';
import { type LoginKeys, openFor, sealFor, secretOf } from './keys.ts';

/** Maximum length of a return path, in characters. */
const RETURN_LIMIT_UNITS = 2_000;

/**
 * Whether a text is a path of this origin that browsers cannot interpret as another origin: exactly one
 * leading slash, no backslash (browsers treat it as a slash, WHATWG URL §4.4), no control characters
 * (browsers drop tabs and line ends) and no leading or trailing white space.
 */
export function isOwnPath(text: string): boolean {
  if (text.length > RETURN_LIMIT_UNITS) return false;
  return /^\/(?![/\\])[!-[\]-~]*$/.test(text);
}

/** The return path after a login: the text if it is safe, otherwise `otherwise`. */
export function returnPath(text: string | null, otherwise: string): string {
  return text !== null && isOwnPath(text) ? text : otherwise;
}

/** A pending login. It travels sealed in `state` (or RelayState). */
export interface LoginState {
  readonly id: string;
  /** Hash of the secret in the nonce cookie: only the browser that started the login can complete it. */
  readonly browser: string;
  readonly startMs: number;
  readonly returnTo: string;
  /** PKCE code verifier with 256 bits (RFC 7636 §4.1); the provider receives only its hash. */
  readonly verifier: string;
  /** Nonce for the ID token (OpenID Connect Core §3.1.2.1). */
  readonly nonce: string;
  /** Data of the protocol, such as the id of its request. */
  readonly note: string;
}

/** From when to when an id may be used. */
export interface Life {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A login must be completed within ten minutes. */
export const LOGIN_STATE_MS = 10 * 60_000;
const SECRET_BYTES = 16;
const VERIFIER_BYTES = 32;

/** Why a callback does not match a login started by this browser. */
export type LoginStateProblem =
  | 'state_missing'
  | 'state_unknown'
  | 'state_expired'
  | 'other_browser'
  | 'state_used'
  | 'state_unchecked';

function placeText(host: string, gate: string): string {
  return `pending\n${host}\n${gate}`;
}

/** The secret of the nonce cookie: the browser's current one or a new one. Tabs share it. */
export function browserSecret(present: string | null, world: World): string {
  return present !== null && /^[\w-]{22}$/.test(present) ? present : secretOf(world, SECRET_BYTES);
}

function hashOf(secret: string): string {
  return digest('sha256', ['browser', secret], 'base64').slice(0, 22);
}

/** Creates a pending login. */
export function newLoginState(secret: string, returnTo: string, world: World): LoginState {
  return {
    id: secretOf(world, SECRET_BYTES),
    browser: hashOf(secret),
    startMs: world.nowMs(),
    returnTo,
    verifier: secretOf(world, VERIFIER_BYTES),
    nonce: secretOf(world, SECRET_BYTES),
    note: '',
  };
}

/** Seals a pending login for its host and gate. */
export function sealLoginState(
  keys: LoginKeys,
  { id, browser, startMs, returnTo, verifier, nonce, note }: LoginState,
  at: { readonly host: string; readonly gate: string },
  world: World,
): string {
  const text = JSON.stringify([id, browser, startMs, verifier, nonce, note, returnTo]);
  return sealFor(keys, text, placeText(at.host, at.gate), world);
}

/** When a pending login was started; negative infinity if it is invalid here. */
export function startOfLoginState(
  keys: LoginKeys,
  state: string,
  at: { readonly host: string; readonly gate: string },
): number {
  const text = openFor(keys, state, placeText(at.host, at.gate));
  return text === null ? Number.NEGATIVE_INFINITY : (JSON.parse(text) as [string, string, number])[2];
}

/**
 * Opens a state and marks it as used, so that a callback cannot be repeated. `secret` is the value of the
 * nonce cookie; `useOnce` marks its id.
 */
export function* takeLoginState(
  keys: LoginKeys,
  state: string | null,
  at: { readonly host: string; readonly gate: string },
  secret: string | null,
  useOnce: (id: string, life: Life) => Conversation<'fresh' | 'used' | 'unknown'>,
  nowMs: number,
): Conversation<LoginState | LoginStateProblem> {
  if (state === null || state === '') return 'state_missing';
  const text = openFor(keys, state, placeText(at.host, at.gate));
  if (text === null) return 'state_unknown';
  const [id, browser, startMs, verifier, nonce, note, returnTo] = JSON.parse(text) as readonly [
    string,
    string,
    number,
    string,
    string,
    string,
    string,
  ];
  if (nowMs - startMs >= LOGIN_STATE_MS || startMs > nowMs + CLOCKS_DIFFER_MS) return 'state_expired';
  if (secret === null || !equalTexts(hashOf(secret), browser)) return 'other_browser';
  const use = yield* useOnce(id, { sinceMs: startMs, untilMs: startMs + LOGIN_STATE_MS });
  if (use !== 'fresh') return use === 'used' ? 'state_used' : 'state_unchecked';
  return { id, browser, startMs, returnTo: returnPath(returnTo, '/'), verifier, nonce, note };
}
