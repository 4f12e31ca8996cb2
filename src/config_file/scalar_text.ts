import { isScalar, parseDocument } from 'yaml';
import type { Span } from '../diagnostics/diagnostic.ts';

/**
 * The value of a scalar that is written at a span, quotes or block header included, as a text; null if it cannot be
 * read. Most scalars are on one line and without escapes: only others need the parser.
 */
export function scalarText(text: string, { start, end }: Span): string | null {
  const written = text.slice(start, end);
  const first = written[0];
  if (first === "'" || first === '"') {
    const inner = written.slice(1, -1);
    const isClosed = written.length > 1 && written.endsWith(first);
    if (isClosed && !/[\\\n\r]/.test(inner) && !inner.includes(first)) return inner;
  } else if (first !== '|' && first !== '>' && !/[\n\r]/.test(written)) return written;
  try {
    const { contents, errors } = parseDocument(written, { logLevel: 'error', schema: 'failsafe' });
    return errors.length === 0 && isScalar(contents) ? String(contents.value) : null;
  } catch {
    return null;
  }
}
