import { walkNodes } from '../cel/ast.ts';
import { checkAst } from '../cel/checker.ts';
import type { Row } from '../cel/function_table.ts';
import { parse } from '../cel/program.ts';
import { type Scope, fieldOf } from '../cel/scope.ts';
import type { Type } from '../cel/types.ts';
import type { Span } from '../diagnostics/diagnostic.ts';
import { formsOf, macroForm, typeName } from '../policy/env/function_forms.ts';

/** What a name in an expression is: how it is declared, and its sentence of the reference. */
export interface NameDoc {
  readonly forms: readonly string[];
  readonly doc: string;
  /** An expression that is true; empty for variables. */
  readonly example: string;
}

/** The name that an offset of a source is on, with what is before its last dot. */
export function nameAt(
  source: string,
  offset: number,
): { readonly path: string; readonly start: number; readonly end: number } | null {
  const isPart = (at: number): boolean => /[\w]/.test(source[at] ?? '');
  let start = offset;
  while (start > 0 && isPart(start - 1)) start--;
  let end = offset;
  while (isPart(end)) end++;
  if (start === end || /\d/.test(source[start]!)) return null;
  let first = start;
  while (first > 1 && source[first - 1] === '.' && isPart(first - 2)) {
    first -= 2;
    while (first > 0 && isPart(first - 1)) first--;
  }
  // After a bracket or a literal the type on the left is not known.
  const isAfterValue = first > 0 && source[first - 1] === '.';
  return { path: (isAfterValue ? '.' : '') + source.slice(first, end), start, end };
}

/** What is known of a name; null for names that the expression itself declares, and unknown ones. */
export function docOfName<A>(path: string, isCalled: boolean, scope: Scope<A>): NameDoc | null {
  return isCalled ? functionDoc(path, scope) : variableDoc(path, scope);
}

function variableDoc<A>(path: string, scope: Scope<A>): NameDoc | null {
  const names = path.split('.');
  for (let length = names.length; length > 0; length--) {
    const variable = scope.variables.get(names.slice(0, length).join('.'));
    if (variable === undefined) continue;
    let { type, doc, optional }: { type: Type; doc: string; optional?: boolean | undefined } = variable;
    for (const name of names.slice(length)) {
      const field = fieldOf(type, name);
      if (field === undefined) return null;
      ({ type, doc, optional } = field);
    }
    const sentence = optional === true ? `${doc} May be absent.` : doc;
    return { forms: [`${path}: ${typeName(type)}`], doc: sentence, example: '' };
  }
  return null;
}

function functionDoc<A>(path: string, { functions }: Scope<A>): NameDoc | null {
  const own = path.slice(path.lastIndexOf('.') + 1);
  const rows = functions.rows as readonly Row[];
  // The longest name counts: `secrets.get` before the method `get`.
  const row = rows.find(({ name }) => name === path) ?? rows.find(({ name }) => name === own);
  if (row === undefined) return null;
  const forms = row.kind === 'macro' ? [macroForm(row)] : formsOf(row);
  return { forms, doc: row.doc, example: row.example };
}

/** The type of the smallest part around an offset that is not a constant: of a loop variable, or of a value in brackets. */
export function typeAt<A>(
  source: string,
  offset: number,
  scope: Scope<A>,
): { readonly form: string; readonly span: Span } | null {
  const parsed = parse(source, scope.functions);
  if ('diagnostic' in parsed) return null;
  const { types } = checkAst(parsed.ast, scope);
  let found: { readonly type: Type; readonly span: Span } | null = null;
  walkNodes(parsed.ast.root, ({ kind, id, span }) => {
    const type = types[id];
    if (type === undefined || kind === 'literal' || offset < span.start || offset > span.end) return;
    if (found === null || span.end - span.start <= found.span.end - found.span.start) found = { type, span };
  });
  if (found === null) return null;
  const { type, span } = found as { readonly type: Type; readonly span: Span };
  const written = source.slice(span.start, span.end).replaceAll(/\s+/g, ' ');
  const part = written.length > LONGEST_PART ? `${written.slice(0, LONGEST_PART)}…` : written;
  return { form: `${part}: ${typeName(type)}`, span };
}

const LONGEST_PART = 80;
