import type { Connection, Edit, InnerStep, MakeBodyEditor, RequestHead, World } from '../engine/contract.ts';
import { type HeadersEdit, applyHeaderEdits, headersEdit } from '../engine/edits.ts';
import type { ActionResult } from '../expression/vocabulary/action_results.ts';
import type { Activation } from '../expression/vocabulary/activation.ts';
import { type FieldList, firstValue } from '../http/fields.ts';
import { parseAuthority } from '../http/host.ts';
import type { UrlParts } from '../mechanisms/url_rewrite.ts';
import type { Phase } from './phase.ts';

/** What a policy remembers between requests: one cell for each action that counts or caches. */
export interface PolicyState {
  readonly cells: readonly unknown[];
}

/** A circuit that has let the request through, and waits to hear how it went. */
export interface Awaited {
  readonly cell: number;
  /** Ties the outcome to the admission. */
  readonly serial: number;
}

/**
 * One phase of one exchange on its way through the rules. Actions write to it with the functions below, so that
 * whatever they change is at once an edit for the engine and what later expressions see.
 */
export interface Walk {
  readonly phase: Phase;
  readonly activation: Activation;
  readonly connection: Connection;
  readonly world: World;
  readonly state: PolicyState | null;
  /** The request as the client sent it; null for a connection. */
  readonly head: RequestHead | null;
  edits: Edit[] | null;
  /** Rules that applied and actions that ran, in order. */
  readonly steps: InnerStep[];
  awaited: Awaited[] | null;
  /** `Set-Cookie` values for the response, whoever makes it; null when there are none. */
  cookies: readonly string[] | null;
  /** The bodies as earlier actions have left them; null when no action has asked for them. */
  requestBody: Uint8Array | null;
  responseBody: Uint8Array | null;
  /** Counts the edits that expressions may see. */
  changes: number;
}

/** The message that the phase is about. */
export function sideOf(walk: Walk): 'request' | 'response' {
  return walk.phase === 'on_http_response' ? 'response' : 'request';
}

/** Adds fields to the message of this phase; names in lower case. `host` is replaced (RFC 9112 §3.2). */
export function addHeaders(walk: Walk, fields: FieldList): void {
  editHeaders(walk, headersEdit(sideOf(walk), [], fields));
}

/** Removes all values of fields from the message of this phase. */
export function removeHeaders(walk: Walk, names: readonly string[]): void {
  editHeaders(walk, headersEdit(sideOf(walk), names, []));
}

function editHeaders(walk: Walk, edit: HeadersEdit): void {
  keep(walk, edit);
  const { activation } = walk;
  if (edit.on === 'response') {
    const { response } = activation;
    activation.changeResponse({ ...response, headers: applyHeaderEdits(response.headers, [edit], edit.on) });
    return;
  }
  const { request } = activation;
  const headers = applyHeaderEdits(request.headers, [edit], edit.on);
  const authority = firstValue(edit.add, 'host');
  if (authority === undefined) activation.changeRequest({ ...request, headers });
  else {
    const name = parseAuthority(authority)?.host ?? authority;
    activation.changeRequest({ ...request, headers, authority, host: name });
  }
}

/**
 * Changes path, query and host of the request. The scheme stays what it was: it says how the client came, and
 * how the upstream is dialled is for the backend to say.
 */
export function changeUrl(walk: Walk, { authority, path, query }: UrlParts): void {
  const { request } = walk.activation;
  if (path !== request.path || query !== request.query) {
    keep(walk, { edit: 'target', path, query });
    walk.activation.changeRequest({ ...request, path, query });
  }
  if (authority !== request.authority) addHeaders(walk, ['host', authority]);
}

/** Fields that are true of one sequence of bytes only: digests (RFC 9530), ranges and validators of them. */
const OF_THE_BYTES = ['accept-ranges', 'content-digest', 'content-md5', 'digest', 'etag', 'repr-digest'];

/** Replaces the body of the message of this phase; its length is for whoever writes the message. */
export function changeBody(walk: Walk, bytes: Uint8Array): void {
  const isResponse = sideOf(walk) === 'response';
  if (isResponse) walk.responseBody = bytes;
  else walk.requestBody = bytes;
  keep(walk, { edit: isResponse ? 'response_body' : 'request_body', bytes });
  removeHeaders(walk, OF_THE_BYTES);
}

/** Changes the body of the response while it flows. */
export function changeFlow(walk: Walk, editor: MakeBodyEditor): void {
  keep(walk, { edit: 'response_flow', editor });
  removeHeaders(walk, ['content-length', ...OF_THE_BYTES]);
}

/** Notes an edit that no expression sees. */
export function note(walk: Walk, edit: Extract<Edit, { edit: 'log' | 'compress' }>): void {
  (walk.edits ??= []).push(edit);
}

function keep(walk: Walk, edit: Edit): void {
  (walk.edits ??= []).push(edit);
  walk.changes++;
}

/** Keeps what an action has found, for the expressions after it. */
export function keepResult(walk: Walk, name: string, result: ActionResult): void {
  walk.activation.setResult(name, result);
}

/** Sets cookies in the response, which is not there yet. */
export function setCookies(walk: Walk, cookies: readonly string[]): void {
  if (cookies.length > 0) walk.cookies = [...(walk.cookies ?? []), ...cookies];
}

/** Notes that a circuit has let the request through. */
export function awaitOutcome(walk: Walk, cell: number, serial: number): void {
  (walk.awaited ??= []).push({ cell, serial });
}
