import type { FieldList } from './fields.ts';

/** The head of a request as the client sent it, with its path in canonical form (`http/target.ts`). */
export interface RequestHead {
  /** Case-sensitive, as received (RFC 9110 §9.1). */
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** Host name in lower case, without port and trailing dot. */
  readonly host: string;
  /** `Host` / `:authority` as received. */
  readonly authority: string;
  /** Canonical path: used by routes, rules and the upstream. */
  readonly path: string;
  /** The path that was read, if it is known to have one reading only (`http/readings.ts`); `path` may be edited later. */
  readonly plainPath?: string;
  /** Without the question mark; undefined if there is none (`/a?` has the empty string). */
  readonly query: string | undefined;
  /** Path and query as the client sent them, because some webhook senders sign them. Not used for decisions. */
  readonly sentTarget: string;
  readonly version: '1.0' | '1.1' | '2.0';
  readonly headers: FieldList;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: FieldList;
}
