/** A range of a source text, in UTF-16 offsets; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text that diagnostics point into. `name` is a path as the user wrote it, or a label such as `<argument>`. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

export type Severity = 'error' | 'warning';

/** How an analysis knows of a finding: for all requests, by one that was run, or from the settings alone. */
export type Basis = 'proved' | 'run' | 'settings';

/** A mechanical fix: replaces `span` of the source with `text`. `safe` means that it surely keeps the meaning. */
export interface Fix {
  readonly message: string;
  readonly span: Span;
  readonly text: string;
  readonly safe: boolean;
}

/** One finding about a configuration. Misconfigurations are reported as a list of these, never as an exception. */
export interface Diagnostic {
  /** Stable and dotted (`edge.unknown_key`), or `ERR_<SERVICE>_<n>` where the service documents a number. */
  readonly code: string;
  readonly severity: Severity;
  /** The case, where one code covers several and a program has to tell them apart. Never shown. */
  readonly reason?: string;
  /** One sentence: what is wrong and, where it helps, what would be right. */
  readonly message: string;
  /** JSON pointer (RFC 6901) into the document; `''` is the whole document. */
  readonly pointer: string;
  readonly source?: Source;
  readonly span?: Span;
  /** A short hint under the caret, such as `did you mean 'path'?`. */
  readonly hint?: string;
  /** Further lines, such as the allowed values or the place of the other definition. */
  readonly notes?: readonly string[];
  /** Given by findings of the exact analysis. */
  readonly basis?: Basis;
  readonly fix?: Fix;
}

/** Whether any finding is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** One reference token appended to a JSON pointer, escaped as RFC 6901 §3 says. */
export function pointerTo(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}/${key}`;
  return `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** A pointer and those of all parts that contain it, from the inside out: `/a/0`, `/a` and the empty one. */
export function pointersFrom(pointer: string): string[] {
  const found = [pointer];
  for (let end = pointer.length; end > 0;) {
    end = pointer.lastIndexOf('/', end - 1);
    if (end >= 0) found.push(pointer.slice(0, end));
  }
  return found;
}
