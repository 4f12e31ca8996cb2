import type { ServerResponse } from 'node:http';
import type { DiagnosticJson } from '../../diagnostics/json.ts';

/** A request to the data, parsed. */
export interface Call {
  /** Parts of the path: `{seq: '12'}` for `/api/exchanges/:seq`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON of the body; null without one. */
  readonly body: unknown;
  /** For handlers that answer by themselves, such as the feed; they return `ANSWERED`. */
  readonly response: ServerResponse;
}

/** Returns the JSON of the answer; throws `RequestError`. */
export type Handler = (call: Call) => unknown;

/** Handlers by method and path: `POST /api/draft`, `GET /api/exchanges/:seq`. */
export type Handlers = Readonly<Record<string, Handler>>;

export const ANSWERED = Symbol('answered');

/**
 * An answer that is sent as it is, with the secrets in it: texts of the operator's own files, which are decided
 * and written again. With redacted texts a draft would decide otherwise, and a write would lose the secrets.
 */
export class OwnTexts {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** A request that is refused, with its status and a sentence for the user. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly error: string;
  readonly diagnostics: readonly DiagnosticJson[];

  constructor(status: number, error: string, message: string, diagnostics: readonly DiagnosticJson[] = []) {
    super(message);
    this.status = status;
    this.error = error;
    this.diagnostics = diagnostics;
  }
}

export function invalid(message: string): RequestError {
  return new RequestError(400, 'invalid', message);
}

/** A member of a body; throws if it is not of the type. */
export function textIn(body: unknown, name: string): string {
  const value = memberOf(body, name);
  if (typeof value !== 'string') throw invalid(`\`${name}\` must be a string`);
  return value;
}

export function optionalTextIn(body: unknown, name: string): string | undefined {
  return memberOf(body, name) === undefined ? undefined : textIn(body, name);
}

/** A whole number of a body from `least` to `most`; `absent` if there is none. */
export function countIn<Absent>(
  body: unknown,
  name: string,
  absent: Absent,
  [least, most]: readonly [number, number] = [0, Number.MAX_SAFE_INTEGER],
): number | Absent {
  const value = memberOf(body, name);
  if (value === undefined) return absent;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least)
    throw invalid(`\`${name}\` must be a whole number from ${least}`);
  return Math.min(value, most);
}

export function memberOf(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined;
  return (body as Readonly<Record<string, unknown>>)[name];
}

/** The number in a path; throws otherwise. */
export function seqOf({ params }: Call): number {
  const text = params['seq'] ?? '';
  if (!/^\d{1,15}$/.test(text)) throw invalid('the number of an exchange has digits only');
  return Number(text);
}
