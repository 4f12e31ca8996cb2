import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { compile } from '../expression/index.ts';
import { BOOL } from '../expression/types.ts';
import { EVENT_FILTER_SCOPE, type FilterableEvent } from '../expression/vocabulary/event_filter.ts';

/** Decides which events are delivered. */
export interface EventFilter {
  /** An event for which the filter fails is not taken: what cannot be decided is not sent out. */
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
