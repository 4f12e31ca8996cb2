import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import { brandingOf } from '../engine/branding.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { type Formatted, formatPolicy } from '../policy/document/format.ts';
import { formatEmbeddedPolicies } from '../policy/document/format_embedded.ts';
import { readDocument } from '../config_file/read.ts';
import { EDGE_FILE } from './document/edge_file.ts';
import { checkWholeEdge } from './semantic_checks.ts';

/** A text in its canonical form, or why it has none. */
export type FormattedText =
  | { readonly text: string }
  /** The findings of the checker; if it finds nothing, `message` of the formatter says why. */
  | { readonly diagnostics: readonly Diagnostic[]; readonly message: string };

/** Formats a policy, or the policies in an edge file; findings have the codes of a service of this name. */
export function formattedText(source: Source, service = 'service'): FormattedText {
  const { text } = source;
  const { document } = readDocument(source, EDGE_FILE);
  const isEdge =
    document === null ? EDGES.test(text) : Object.hasOwn(document.value as Readonly<object>, 'edges');
  const formatted = formattedAs(isEdge, text, document !== null);
  if (!('message' in formatted)) return { text: formatted.text };
  const { diagnostics } = isEdge
    ? checkWholeEdge(source)
    : checkPolicy(source, { branding: brandingOf(service) });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return { diagnostics: errors, message: formatted.message };
}

/** The key of an edge file, in a text that cannot be read. */
const EDGES = /^["']?edges["']?\s*:|"edges"\s*:/m;

function formattedAs(isEdge: boolean, text: string, isReadable: boolean): Formatted {
  if (!isReadable) return { message: 'the text is not YAML with an edge or a policy' };
  return isEdge ? formatEmbeddedPolicies(text) : formatPolicy(text);
}
