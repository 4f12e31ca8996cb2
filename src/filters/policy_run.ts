import type { Connection, Edit, InnerStep, RequestHead, World } from '../engine/contract.ts';
import type { MakeBodyEditor } from '../engine/questions.ts';
import { type HeadersEdit, applyHeaderEdits, headersEdit } from '../engine/edits.ts';
import type { ActionResult, Activation } from '../policy/env/activation.ts';
import { type FieldList, firstValue } from '../http/fields.ts';
import { withTarget } from '../http/heads.ts';
import { parseAuthority } from '../http/host.ts';
import type { UrlParts } from './url_rewrite/algorithm.ts';
import type { Phase } from './phase.ts';

/** The state of a policy across requests: one cell for each action that counts or caches. */
export interface PolicyState {
  readonly cells: readonly unknown[];
}

/** A cell that waits for the outcome of the request. */
export interface Awaited {
  readonly cell: number;
  /** What the action knows the request by. */
  readonly serial: number;
}

/**
 * One phase of one exchange while its rules run. Actions change it with the functions below, so that each
 * change becomes both an edit for the engine and visible to later expressions.
 */
export interface PolicyRun {
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
  /** `Set-Cookie` values for the response, whatever its source; null if there are none. */
  cookies: readonly string[] | null;
  /** The bodies after earlier actions; null if not read. */
  requestBody: Uint8Array | null;
  responseBody: Uint8Array | null;
  /** Number of edits that expressions can see. */
  changes: number;
}

/** The side of the exchange that the phase processes. */
export function sideOf(policyRun: PolicyRun): 'request' | 'response' {
  return policyRun.phase === 'on_http_response' ? 'response' : 'request';
}

/** Adds fields to the message of this phase; names in lower case. `host` is replaced (RFC 9112 §3.2). */
export function addHeaders(policyRun: PolicyRun, fields: FieldList): void {
  editHeaders(policyRun, headersEdit(sideOf(policyRun), [], fields));
}

/** Removes all values of fields from the message of this phase. */
export function removeHeaders(policyRun: PolicyRun, names: readonly string[]): void {
  editHeaders(policyRun, headersEdit(sideOf(policyRun), names, []));
}

function editHeaders(policyRun: PolicyRun, edit: HeadersEdit): void {
  keep(policyRun, edit);
  const { activation } = policyRun;
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
 * Changes path, query and host of the request. The scheme is kept: it is that of the client's connection; the
 * backend determines how the upstream is dialled.
 */
export function changeUrl(policyRun: PolicyRun, { authority, path, query }: UrlParts): void {
  const { request } = policyRun.activation;
  if (path !== request.path || query !== request.query) {
    keep(policyRun, { edit: 'target', path, query });
    policyRun.activation.changeRequest(withTarget(request, path, query));
  }
  if (authority !== request.authority) addHeaders(policyRun, ['host', authority]);
}

/** Fields that are valid for one exact sequence of bytes: digests (RFC 9530), ranges and their validators. */
const BYTE_SPECIFIC_FIELDS = [
  'accept-ranges',
  'content-digest',
  'content-md5',
  'digest',
  'etag',
  'repr-digest',
];

/** Replaces the body of the message of this phase; the writer of the message sets the length. */
export function changeBody(policyRun: PolicyRun, bytes: Uint8Array): void {
  const isResponse = sideOf(policyRun) === 'response';
  if (isResponse) policyRun.responseBody = bytes;
  else policyRun.requestBody = bytes;
  keep(policyRun, { edit: isResponse ? 'response_body' : 'request_body', bytes });
  removeHeaders(policyRun, BYTE_SPECIFIC_FIELDS);
}

/** Changes the response body while it streams. */
export function changeFlow(policyRun: PolicyRun, editor: MakeBodyEditor): void {
  keep(policyRun, { edit: 'response_flow', editor });
  removeHeaders(policyRun, ['content-length', ...BYTE_SPECIFIC_FIELDS]);
}

/** Adds an edit that expressions cannot see. */
export function note(policyRun: PolicyRun, edit: Extract<Edit, { edit: 'log' | 'compress' }>): void {
  (policyRun.edits ??= []).push(edit);
}

function keep(policyRun: PolicyRun, edit: Edit): void {
  (policyRun.edits ??= []).push(edit);
  policyRun.changes++;
}

/** Stores the result of an action for later expressions. */
export function keepResult(policyRun: PolicyRun, name: string, result: ActionResult): void {
  policyRun.activation.setResult(name, result);
}

/** Sets cookies in the response, which does not exist yet. */
export function setCookies(policyRun: PolicyRun, cookies: readonly string[]): void {
  if (cookies.length > 0) policyRun.cookies = [...(policyRun.cookies ?? []), ...cookies];
}

/** Lets a cell wait for the outcome of the request. `serial` is what its `concluded` knows the request by. */
export function awaitOutcome(policyRun: PolicyRun, cell: number, serial: number): void {
  (policyRun.awaited ??= []).push({ cell, serial });
}
