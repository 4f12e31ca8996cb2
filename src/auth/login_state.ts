import { digest, equalTexts } from '../crypto/digest.ts';
import type { World } from '../engine/contract.ts';
import { type LoginKeys, openFor, sealFor, secretOf } from './keys.ts';
import { type OneTimeIds, useOnce } from './registry.ts';

/** Longest place to come back to that is carried through a login, in characters. */
const RETURN_LIMIT_UNITS = 2_000;

/**
 * Whether a text is a path of this very origin and nothing a browser could read as another one: one slash at the
 * beginning, no backslash (browsers take it for a slash, WHATWG URL §4.4), no control character (browsers drop
 * tabs and line ends), no white space at either end.
 */
export function isOwnPath(text: string): boolean {
  if (text.length > RETURN_LIMIT_UNITS) return false;
  return /^\/(?![/\\])[!-[\]-~]*$/.test(text);
}

/** Where to go after a login: the text when it is safe, else `otherwise`. */
export function returnPath(text: string | null, otherwise: string): string {
  return text !== null && isOwnPath(text) ? text : otherwise;
}

/** A login that was begun: it travels as `state` (or RelayState), sealed. */
export interface LoginState {
  readonly id: string;
  /** Hash of the secret in the nonce cookie: only the browser that began can finish. */
  readonly browser: string;
  readonly startMs: number;
  readonly returnTo: string;
  /** RFC 7636 §4.1, with 256 bits; the provider gets its hash only. */
  readonly verifier: string;
  /** For the ID token (OpenID Connect Core §3.1.2.1). */
  readonly nonce: string;
  /** What the protocol wants back, such as the id of its request. */
  readonly note: string;
}

/** A login is to be finished within ten minutes. */
export const LOGIN_STATE_MS = 10 * 60_000;
const CLOCKS_DIFFER_MS = 60_000;
const SECRET_BYTES = 16;
const VERIFIER_BYTES = 32;

/** Why a callback is not that of a login which this browser has begun. */
export type LoginStateProblem =
  | 'state_missing'
  | 'state_unknown'
  | 'state_expired'
  | 'other_browser'
  | 'state_used';

function placeText(host: string, gate: string): string {
  return `pending\n${host}\n${gate}`;
}

/** The secret of the nonce cookie: the one that the browser has, else a new one. Tabs share it. */
export function browserSecret(present: string | null, world: World): string {
  return present !== null && /^[\w-]{22}$/.test(present) ? present : secretOf(world, SECRET_BYTES);
}

function hashOf(secret: string): string {
  return digest('sha256', ['browser', secret], 'base64').slice(0, 22);
}

/** A new pending login. */
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

/** When a pending login was begun; before all times when it is none of this place. */
export function startOfLoginState(
  keys: LoginKeys,
  state: string,
  at: { readonly host: string; readonly gate: string },
): number {
  const text = openFor(keys, state, placeText(at.host, at.gate));
  return text === null ? Number.NEGATIVE_INFINITY : (JSON.parse(text) as [string, string, number])[2];
}

/**
 * Opens a state and marks it as used, so that whatever becomes of the callback, there is no second one. `secret` is
 * that of the nonce cookie.
 */
export function takeLoginState(
  keys: LoginKeys,
  state: string | null,
  at: { readonly host: string; readonly gate: string },
  secret: string | null,
  used: OneTimeIds,
  nowMs: number,
): LoginState | LoginStateProblem {
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
  if (!useOnce(used, `state ${id}`, startMs + LOGIN_STATE_MS, nowMs)) return 'state_used';
  return { id, browser, startMs, returnTo: returnPath(returnTo, '/'), verifier, nonce, note };
}
