import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { formattedText } from '../../edge/formatted_text.ts';
import type { FormatAnswer, FormatRequest } from '../wire_editing.ts';

/** As `edgeproof fmt`: the canonical form of a policy, or of the policies in an edge file. */
export function format(source: FormatRequest): FormatAnswer {
  const formatted = formattedText(source);
  if ('text' in formatted) return { text: formatted.text, diagnostics: [] };
  const { diagnostics, message } = formatted;
  const refusal: Diagnostic = { code: 'format.refused', severity: 'error', message, pointer: '', source };
  return { text: null, diagnostics: diagnosticsToJson(diagnostics.length > 0 ? diagnostics : [refusal]) };
}
