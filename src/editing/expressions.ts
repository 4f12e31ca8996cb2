import { scalarText } from '../config_file/scalar_text.ts';
import type { Span } from '../diagnostics/diagnostic.ts';
import { type Phase, PHASES, scopePhase } from '../filters/phase.ts';
import { scalarMap } from '../policy/document/text_map.ts';
import type { scopeFor } from '../policy/env/scopes.ts';
import { scanTemplate } from '../policy/env/template_split.ts';
import { type EditedText, type Place, schemasOf } from './edited_text.ts';
import type { YamlScalar } from './yaml_tree.ts';

/** An expression in a scalar of a file: all of its text, or a part between `${` and `}`. */
export interface WrittenExpression {
  readonly source: string;
  /** The place in the file of a span of the source. */
  readonly inFile: (span: Span) => Span;
}

/** Where the variables and functions of a place are declared. */
export type ScopePlace = Parameters<typeof scopeFor>[0];

/** Whose variables are known at a place: those of its field or of its phase. */
export function scopePlaceOf({ root }: EditedText, place: Place): ScopePlace {
  const own = schemasOf(root, place).find(({ scope }) => scope !== undefined)?.scope;
  if (own !== undefined && own !== 'strategy') return own;
  const phase = place.path.findLast((key): key is Phase => (PHASES as readonly string[]).includes(key));
  return phase === undefined ? 'on_http_request' : scopePhase(phase);
}

/** What a scalar can hold: an expression, a text with expressions, or neither. */
function languageOf({ root }: EditedText, place: Place): 'expression' | 'template' | null {
  if (schemasOf(root, place).some(({ kind }) => kind === 'expression')) return 'expression';
  const { path } = place;
  if (path.at(-1) === 'where' && path.at(-3) === 'properties') return 'expression';
  return path.some((key) => (PHASES as readonly string[]).includes(key)) ||
    path.at(-3)?.endsWith('_headers') === true
    ? 'template'
    : null;
}

/** The expressions of a scalar. */
export function expressionsIn(
  edited: EditedText,
  place: Place,
  scalar: YamlScalar,
): readonly WrittenExpression[] {
  const { text } = edited;
  const language = languageOf(edited, place);
  if (language === null) return [];
  const { start, end } = scalar;
  if (language === 'template' && !hasTemplate(text, scalar)) return [];
  const decoded = scalarText(text, { start, end });
  if (decoded === null) return [];
  const toFile = placesOf(text, scalar, decoded);
  if (language === 'expression') return [{ source: decoded, inFile: toFile }];
  return scanTemplate(decoded).pieces.flatMap((piece): readonly WrittenExpression[] => {
    if (piece.kind !== 'expression') return [];
    const { source, span } = piece;
    return [
      { source, inFile: (part) => toFile({ start: span.start + part.start, end: span.start + part.end }) },
    ];
  });
}

function hasTemplate(text: string, { start, end }: Span): boolean {
  return text.slice(start, end).includes('${');
}

/** Where the parts of a scalar's text are written. */
function placesOf(text: string, { style, start, end }: YamlScalar, decoded: string): (span: Span) => Span {
  const offset = style === 'plain' ? start : start + 1;
  if (text.startsWith(decoded, offset) && style !== 'literal' && style !== 'folded')
    return (span) => ({ start: offset + span.start, end: offset + span.end });
  const { spanOf } = scalarMap(text, { start, end }, decoded);
  return spanOf;
}

/** The expression before an offset in a scalar, as far as it is written; null if there is none. */
export function expressionBefore(
  edited: EditedText,
  place: Place,
  scalar: YamlScalar,
  offset: number,
): string | null {
  const language = languageOf(edited, place);
  if (language === null || offset <= scalar.start) return null;
  const before = textBefore(edited.text, scalar, offset);
  if (language === 'expression') return before;
  const template = before.lastIndexOf('${');
  if (template < 0 || before.slice(template).includes('}')) return null;
  return before.slice(template + 2);
}

/** The text of a scalar up to an offset; line breaks and indentation are as good as any white space. */
function textBefore(text: string, { style, start }: YamlScalar, offset: number): string {
  const written = text.slice(start, offset);
  if (style === 'plain') return written;
  if (style === 'literal' || style === 'folded') return written.replace(/^[^\n]*\n?/, '');
  const inner = written.slice(1);
  return style === 'single' ? inner.replaceAll("''", "'") : inner.replaceAll(/\\(["\\])/g, '$1');
}
