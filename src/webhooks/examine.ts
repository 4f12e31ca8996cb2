import type { Piece } from '../crypto/digest.ts';
import { firstValue, hasField } from '../http/fields.ts';
import { parseInstant } from './instants.ts';
import { messagesOf } from './message.ts';
import { type PlaceProblem, describePlace, findAt, findOne } from './places.ts';
import type { PreparedScheme } from './prepare.ts';
import type { Place, Scheme } from './provider.ts';
import type { Reading } from './reading.ts';

/** Why a request is refused. `reasons.ts` has the sentences. */
export type RefusalReason =
  | 'signature_missing'
  | 'signature_duplicated'
  | 'signature_malformed'
  | 'signature_mismatch'
  | 'timestamp_missing'
  | 'timestamp_duplicated'
  | 'timestamp_malformed'
  | 'timestamp_stale'
  | 'timestamp_future'
  | 'field_missing'
  | 'field_duplicated'
  | 'field_malformed'
  | 'body_not_signed'
  | 'body_malformed'
  | 'url_malformed'
  | 'certificate_refused'
  | 'certificate_unusable'
  | 'secret_unusable';

export interface Refusal {
  readonly outcome: 'refused';
  readonly reason: RefusalReason;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

/** What a scheme finds in a request, before any comparison. */
export interface Examination {
  readonly presented: readonly string[];
  readonly messages: readonly (readonly Piece[])[];
  readonly timestamp: { readonly text: string; readonly ms: number; readonly windowSeconds: number } | null;
}

/** Whether the scheme applies to this request. */
export function isMeant(scheme: Scheme, reading: Reading): boolean {
  const { when } = scheme;
  return when === undefined || firstValue(reading.request.headers, when.at.lower) === when.is;
}

/** Whether there is a value at the place, even a malformed one. */
export function isPresent(place: Place, reading: Reading): boolean {
  if ('header' in place) return hasField(reading.request.headers, place.lower);
  return !('problem' in findAt(place, reading));
}

/** Finds signature, timestamp and message of a scheme, or the problem. */
export function examine(prepared: PreparedScheme, reading: Reading): Examination | Refusal {
  const { scheme } = prepared;
  const presented = findSignatures(scheme, reading);
  if ('outcome' in presented) return presented;
  const values: Record<string, string> = { secret: prepared.key.text };
  let timestamp: Examination['timestamp'] = null;
  if (scheme.timestamp !== undefined) {
    const { at, unit, windowSeconds } = scheme.timestamp;
    const found = findOne(at, reading);
    if ('problem' in found) return amiss('timestamp', found.problem, at);
    const ms = parseInstant(found.value, unit);
    if (ms === null) return amiss('timestamp', 'malformed', at);
    timestamp = { text: found.value, ms, windowSeconds };
    values['timestamp'] = found.value;
  }
  for (const [name, place] of prepared.fields) {
    const found = findOne(place, reading);
    if ('problem' in found) return amiss('field', found.problem, place);
    values[name] = found.value;
  }
  const messages = messagesOf(prepared.template, reading, values, scheme.url);
  if ('problem' in messages)
    return { outcome: 'refused', reason: messages.problem, detail: { scheme: scheme.name } };
  return { presented, messages: messages.messages, timestamp };
}

/** Maximum number of signatures: DocuSign sends 100. */
const SIGNATURES_LIMIT = 100;
/** With a public key, each signature costs a pass over the body. */
const PUBLIC_KEY_SIGNATURES_LIMIT = 10;

/** All signatures at the places of the scheme; an invalid value at one place refuses the request. */
function findSignatures(scheme: Scheme, reading: Reading): readonly string[] | Refusal {
  const values: string[] = [];
  for (const place of scheme.signature) {
    const found = findAt(place, reading);
    if (!('problem' in found)) values.push(...found.values);
    else if (found.problem !== 'missing') return amiss('signature', found.problem, place);
  }
  const limit = scheme.key === 'public_key' ? PUBLIC_KEY_SIGNATURES_LIMIT : SIGNATURES_LIMIT;
  if (values.length > limit) return amiss('signature', 'malformed', scheme.signature[0]!);
  return values.length > 0 ? values : amiss('signature', 'missing', scheme.signature[0]!);
}

function amiss(what: 'signature' | 'timestamp' | 'field', problem: PlaceProblem, place: Place): Refusal {
  return { outcome: 'refused', reason: `${what}_${problem}`, detail: { at: describePlace(place) } };
}
