import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import { brandingOf } from '../engine/branding.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { formatPolicy } from '../policy/document/format.ts';
import { formatEmbeddedPolicies, isEdgeText } from '../policy/document/format_embedded.ts';
import { checkWholeEdge } from './semantic_checks.ts';

/** A text in its canonical form, or why it has none. */
export type FormattedText =
  | { readonly text: string }
  /** The findings of the checker; if it finds nothing, `message` of the formatter says why. */
  | { readonly diagnostics: readonly Diagnostic[]; readonly message: string };

/** Formats a policy, or the policies in an edge file; findings have the codes of a service of this name. */
export function formattedText(source: Source, service = 'service'): FormattedText {
  const { text } = source;
  const isEdge = isEdgeText(text);
  const formatted = isEdge ? formatEmbeddedPolicies(text) : formatPolicy(text);
  if (!('message' in formatted)) return { text: formatted.text };
  const { diagnostics } = isEdge
    ? checkWholeEdge(source)
    : checkPolicy(source, { branding: brandingOf(service) });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return { diagnostics: errors, message: formatted.message };
}
