/** A stretch of a source text, in UTF-16 offsets; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text that diagnostics point into. `name` is a path as the user wrote it, or `<argument>` and the like. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

export type Severity = 'error' | 'warning';

/** A mechanical repair: replace `span` of the source by `text`. `safe` means meaning is surely kept. */
export interface Fix {
  readonly says: string;
  readonly span: Span;
  readonly text: string;
  readonly safe: boolean;
}

/** One finding about a configuration: a misconfiguration is a list of these, never an exception. */
export interface Diagnostic {
  /** Stable and dotted (`edge.unknown_key`), or `ERR_<SERVICE>_<n>` where the service documents a number. */
  readonly code: string;
  readonly severity: Severity;
  /** One sentence: what is wrong and, where it helps, what would be right. */
  readonly says: string;
  /** JSON pointer (RFC 6901) into the document; `''` is the whole of it. */
  readonly pointer: string;
  readonly source?: Source;
  readonly span?: Span;
  /** A short hint under the caret, such as `did you mean 'path'?`. */
  readonly hint?: string;
  /** Further lines: what else is allowed, where the other definition stands. */
  readonly notes?: readonly string[];
  readonly fix?: Fix;
}

/** Whether any of the findings forbids use of the configuration. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** One reference token appended to a JSON pointer, escaped as RFC 6901 §3 says. */
export function pointerTo(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}/${key}`;
  return `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
