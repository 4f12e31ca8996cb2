import type { DiagnosticJson } from '../diagnostics/json.ts';
import type { Completions } from '../editing/complete.ts';
import type { Place } from '../edge/explain.ts';
import type { ExplanationDetail } from './wire_detail.ts';

/** Files of the configuration, drafts of them, and coverage. */

/** `GET /api/files` → `{files}`. */
export interface FileText {
  /** As the user named it, or relative to the edge file. */
  readonly name: string;
  readonly kind: 'edge' | 'policy' | 'facts' | 'other';
  readonly text: string;
  /** SHA-256 of its bytes in hex: `expected` of a write. */
  readonly hash: string;
  readonly writable: boolean;
}

/** `PUT /api/files` → `FileText`. 409 `conflict` if the file is not what `expected` says. */
export interface WriteRequest {
  readonly name: string;
  readonly text: string;
  readonly expected: string;
}

/** `POST /api/draft`: decides again with unsaved texts. */
export interface DraftRequest {
  /** Texts by file name; files that are not named are as they are on disk. */
  readonly texts: Readonly<Record<string, string>>;
  readonly seq?: number;
  /** How many of the newest exchanges to decide again; default 500. */
  readonly last?: number;
  /** Whether the exchange of `seq` is explained, which takes longer; default true. */
  readonly explain?: boolean;
}

export interface DraftAnswer {
  readonly diagnostics: readonly DiagnosticJson[];
  /** False: the draft has errors, and nothing was decided. */
  readonly decided: boolean;
  /** The exchange of `seq`; null if none was named or if it is not kept. */
  readonly one: DraftVerdict | null;
  /** Those of the last exchanges that would change. */
  readonly changed: readonly DraftVerdict[];
  readonly counts: {
    readonly looked: number;
    readonly alike: number;
    readonly changed: number;
    /** The outcome depends on what is not kept. */
    readonly unknown: number;
  };
  /** What the outcomes that are not certain depend on, the most frequent first. */
  readonly unknownFor: readonly { readonly cause: string; readonly count: number }[];
  readonly tookMs: number;
}

export interface DraftVerdict {
  readonly seq: number;
  readonly before: Verdict;
  readonly after: Verdict;
  /** Differences beyond the verdict in one sentence each: headers, target, backend. */
  readonly differences: readonly string[];
  /** Why the outcome is not certain; empty if it is. */
  readonly unknown: readonly string[];
  /** The explanation with the draft; only of `one`. */
  readonly explanation: ExplanationDetail | null;
}

export interface Verdict {
  readonly verdict: 'pass' | 'stop';
  readonly by: string;
  readonly code: string;
  readonly status: number | null;
  readonly backend: string | null;
  readonly place: Place | null;
}

/** `POST /api/complete`. `offset` in UTF-16 units. For the filter's field: `name` null, `text` the expression. */
export type CompleteAnswer = Completions;

/** `POST /api/format`. */
export interface FormatRequest {
  readonly name: string;
  readonly text: string;
}

/** `text` is null if it cannot be formatted. */
export interface FormatAnswer {
  readonly text: string | null;
  readonly diagnostics: readonly DiagnosticJson[];
}

/** `POST /api/coverage`: which places of the configuration a scenario run reached, or the kept exchanges if none is named. */
export interface CoverageRequest {
  readonly scenario?: string;
}

export interface CoverageAnswer {
  readonly name: string;
  readonly percent: number;
  readonly points: readonly {
    readonly kind: string;
    readonly place: Place | null;
    readonly pointer: string;
    readonly state: 'hit' | 'missed' | 'impossible';
    readonly hits: number;
    readonly message: string;
  }[];
  readonly diagnostics: readonly DiagnosticJson[];
}
