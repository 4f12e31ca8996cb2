import type { DiagnosticJson } from '../diagnostics/json.ts';
import type { Place } from '../edge/explain.ts';

/**
 * The JSON between the inspector's page and its server. Each request to `/api/…` carries the token of the page's URL as
 * `Authorization: Bearer TOKEN`. Times are ms since the epoch, durations ms, sizes bytes, unless the name says otherwise.
 * Secrets are redacted as in recordings. Everything that comes from traffic is text: a page never reads it as markup.
 */

/** Why the server refuses a request to `/api/…`: the body of every status from 400. */
export interface Refused {
  /** Stable: `unauthorized`, `not_found`, `not_kept`, `invalid`, `conflict`, `too_large`, `unavailable`. */
  readonly error: string;
  /** One sentence: what is wrong and what helps. */
  readonly message: string;
  readonly diagnostics?: readonly DiagnosticJson[];
}

/** `GET /api/hello`: what the page shows around everything else, and what this server can do. */
export interface Hello {
  readonly version: string;
  readonly verb: 'dev' | 'http' | 'serve' | 'library';
  /** URL of the edge's plain listener. */
  readonly edgeUrl: string;
  readonly revision: number;
  readonly startedMs: number;
  readonly nowMs: number;
  readonly kept: Kept;
  /** Which actions this server offers: those it does not are not shown. */
  readonly can: {
    readonly resend: boolean;
    /** `GET /api/files`. */
    readonly files: boolean;
    /** `PUT /api/files`. */
    readonly write: boolean;
    readonly draft: boolean;
    readonly complete: boolean;
    readonly format: boolean;
    readonly coverage: boolean;
  };
}

/** What is kept, and what was not: counted, never hidden. */
export interface Kept {
  readonly rows: number;
  readonly bytes: number;
  readonly limitBytes: number;
  /** Bytes kept of one body. */
  readonly bodyLimitBytes: number;
  /** Rows that had to leave for newer ones, since the start. */
  readonly dropped: number;
  /** Exchanges that ended while no page was open and the short ring had no place, since the start. */
  readonly unwatched: number;
  readonly pinned: readonly number[];
}

export type Protocol = 'http/1.0' | 'http/1.1' | 'h2' | 'websocket' | 'tcp' | 'tls';

/** What rows of exchanges and of connections have in common. A later row of the same `seq` replaces the earlier one. */
interface CommonRow {
  /** Number of the exchange or connection, ascending from 1 in the order of their beginning as the server saw it. */
  readonly seq: number;
  readonly atMs: number;
  /** Null while it is open. */
  readonly tookMs: number | null;
  readonly state: 'open' | 'done';
  readonly protocol: Protocol;
  /** `host:port` without the default port for exchanges; the address of the edge for connections. */
  readonly host: string;
  /** `pass`: an upstream or the edge's own answer. Null while it is not decided. */
  readonly verdict: 'pass' | 'stop' | null;
  /** The filter, or `route`, `connect`, `upstream`, `engine`, that decided; empty while it is not decided. */
  readonly by: string;
  /** The code of the reason: `ip.denied`; empty while it is not decided. */
  readonly code: string;
  /** The name of the rule of a policy that decided; absent without one. */
  readonly rule?: string;
  /** Where the deciding step is in the configuration; null if nowhere. */
  readonly pointer: string | null;
  readonly place: Place | null;
  /** Backend that answered or took the connection, or the last that was tried. */
  readonly backend: string | null;
  /** Id of the agent's tunnel to that backend. */
  readonly tunnel: string | null;
  readonly clientIp: string;
  /** Bytes of the request's body, or from the client of a connection; what was counted so far while it is open. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Number of the configuration that decided. */
  readonly revision: number;
  readonly pinned: boolean;
}

export interface ExchangeRow extends CommonRow {
  readonly kind: 'exchange';
  /** Null while it is open. */
  readonly eventId: string | null;
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** Path and query as sent, redacted, at most 2,000 characters. */
  readonly target: string;
  /** Null: none was sent yet, or the client left before. */
  readonly status: number | null;
  /** Media type of the response without parameters; empty for none. */
  readonly mediaType: string;
  /** The exchange that this one was sent again from. */
  readonly resentFrom: number | null;
}

/** A connection of a TLS or TCP edge. */
export interface ConnectionRow extends CommonRow {
  readonly kind: 'connection';
  readonly eventId: string | null;
  /** Name of the edge; null if none matched. */
  readonly edge: string | null;
  /** Why it ended: code of the engine, such as `stream.client`; null while it is open. */
  readonly ended: string | null;
}

export type Row = ExchangeRow | ConnectionRow;

/**
 * `GET /api/feed?after=CURSOR&filter=ID`: server-sent events, to be read with `fetch`; each `data:` is one of these, and
 * `id:` is the cursor after it. Without `after` the newest 1,000 kept rows come first. A page that reads too slowly gets
 * `missed` in place of rows, which it can ask for with `POST /api/search`. Comments (`:`) come every 10 s of silence.
 */
export type FeedEvent =
  | { readonly type: 'rows'; readonly rows: readonly Row[] }
  /** Rows that this page was not sent, and which were kept nevertheless. */
  | { readonly type: 'missed'; readonly count: number }
  /** Once a second, while anything happened in that second or in the one before. */
  | { readonly type: 'stats'; readonly stats: SecondStats; readonly kept: Kept }
  | { readonly type: 'revision'; readonly revision: Revision }
  /** Rows were cleared: all that are not pinned and not newer than `upTo` are gone. */
  | { readonly type: 'cleared'; readonly upTo: number }
  /** The server ends; no further event comes. */
  | { readonly type: 'end' };

/** What ended within one second. */
export interface SecondStats {
  /** Start of the second. */
  readonly atMs: number;
  readonly requests: number;
  /** By the first digit of the status: index 0 for none, 1 … 5. */
  readonly classes: readonly [number, number, number, number, number, number];
  readonly stops: number;
  /** Null without requests. */
  readonly p50Ms: number | null;
  readonly p90Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Exchanges and connections that are open at the end of the second. */
  readonly open: number;
}

/** A configuration that became active. */
export interface Revision {
  readonly revision: number;
  readonly atMs: number;
  /** Names of the files whose texts differ from the revision before; empty for the first, or if texts are not known. */
  readonly changedFiles: readonly string[];
}

/** `GET /api/revisions` → `{revisions}`; `GET /api/revisions/N` → this: lines of the changes, per file. */
export interface RevisionDiff extends Revision {
  readonly files: readonly {
    readonly name: string;
    readonly lines: readonly DiffLine[];
  }[];
}

/** One line of a difference; `at` is its number in the new text, for removed lines in the old one. */
export interface DiffLine {
  readonly change: 'same' | 'added' | 'removed';
  readonly at: number;
  readonly text: string;
}

/** `POST /api/filter`. */
export interface FilterRequest {
  /** CEL over the event's object as `ev`, all of its fields: `ev.http.response.status_code >= 400`. */
  readonly expression: string;
}

/** `id` is null if it does not compile; the same expression has the same id. For `feed?filter=ID` and searches. */
export interface FilterAnswer {
  readonly id: string | null;
  readonly diagnostics: readonly DiagnosticJson[];
}

/** `POST /api/search`: kept rows, newest first. All given conditions hold for each. */
export interface SearchRequest {
  /** Occurs in method, host, target, status, code, addresses, headers or text bodies; case-insensitive. */
  readonly text?: string;
  readonly expression?: string;
  /** Only rows with a smaller `seq`. */
  readonly before?: number;
  /** Default 200, at most 2,000. */
  readonly limit?: number;
}

export interface SearchAnswer {
  readonly rows: readonly Row[];
  /** More rows may match before the last one. */
  readonly more: boolean;
  /** Rows that were compared. */
  readonly searched: number;
  readonly diagnostics: readonly DiagnosticJson[];
}

/** `POST /api/exchanges/SEQ/pin` with `{pinned}` → `Row`. `POST /api/clear` with `{}` → `Kept`: pinned rows stay. */
export interface PinRequest {
  readonly pinned: boolean;
}

/** `POST /api/exchanges/SEQ/resend`: sent through the real listener, from loopback. `edit` replaces parts of the request. */
export interface ResendRequest {
  readonly edit?: {
    readonly method?: string;
    readonly target?: string;
    /** `[name, value, …]`; replaces all. */
    readonly headers?: readonly string[];
    readonly body?: { readonly text: string } | { readonly base64: string };
  };
}

export interface ResendAnswer {
  /** The new exchange; null if the listener answered without one. */
  readonly seq: number | null;
  readonly status: number;
  /** What could not be sent as it was, such as values that are redacted. */
  readonly notes: readonly string[];
}

/** `POST /api/exchanges/SEQ/case`: adds the case to the end of a scenario file of the project, or writes a new one. */
export interface AppendRequest {
  /** As the user would name it: relative to the folder in which the command was started. */
  readonly file: string;
}

export interface AppendAnswer {
  readonly file: string;
  /** Where the case begins. */
  readonly line: number;
  readonly created: boolean;
}

/** `GET /api/exchanges/SEQ/copy?as=curl|har|case`. */
export interface CopyAnswer {
  readonly as: 'curl' | 'har' | 'case';
  readonly text: string;
  /** A file name that fits: `GET_admin.har`. */
  readonly name: string;
  /** What is missing in it, such as redacted values and truncated bodies. */
  readonly notes: readonly string[];
}
