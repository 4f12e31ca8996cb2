import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { compile } from '../cel/index.ts';
import { BOOL } from '../cel/types.ts';
import type { FilterableEvent } from './fields.ts';
import { EVENT_FILTER_SCOPE } from './filter_scope.ts';

/** Decides which events are delivered. */
export interface EventFilter {
  /** False also if the filter fails, so that undecidable events are not sent. */
  readonly takes: (event: FilterableEvent) => boolean;
}

/** Compiles a filter over `ev`, the event's object, with its filterable fields only (specification, Events). */
export function compileEventFilter(
  source: string,
): EventFilter | { readonly diagnostics: readonly Diagnostic[] } {
  const { program, diagnostics } = compile(source, EVENT_FILTER_SCOPE, { wants: BOOL });
  if (program === undefined) return { diagnostics };
  return { takes: (event) => program.evaluate(event) === true };
}
