import type { FieldList } from './fields.ts';
import { formatTarget } from './target.ts';

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
  /** The path if it was sent like this and is known to have one reading only (`http/readings.ts`); otherwise empty. */
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

/** A head whose path and query were replaced. */
export function withTarget(head: RequestHead, path: string, query: string | undefined): RequestHead {
  return { ...head, path, query, plainPath: '' };
}

/** Path and query in origin-form: as sent if that is canonical, which saves joining them. */
export function targetOf({ path, query, plainPath, sentTarget }: RequestHead): string {
  return path === plainPath && path !== '' ? sentTarget : formatTarget(path, query);
}
