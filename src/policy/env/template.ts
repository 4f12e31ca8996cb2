import { type Diagnostic, type Fix, type Span, hasErrors } from '../../diagnostics/diagnostic.ts';
import { type Program, compile } from '../../cel/program.ts';
import type { Scope } from '../../cel/scope.ts';
import { type Type, STRING } from '../../cel/types.ts';
import { type Outcome, EvalError, fail } from '../../cel/values.ts';
import { textOf } from './json.ts';
import { type TemplatePiece, scanTemplate } from './template_split.ts';

/** Maximum length of an evaluated template, in UTF-16 units. */
const TEMPLATE_LIMIT_UNITS = 1_000_000;

/** A part of a compiled template. */
type TemplatePart<A> =
  | { readonly kind: 'text'; readonly text: string }
  /** `start` is added to the spans of the program to get offsets in the template. */
  | { readonly kind: 'expression'; readonly program: Program<A>; readonly start: number };

/** A string with `${…}`, compiled once. Immutable; evaluates any number of times and never throws. */
export interface Template<A> {
  readonly source: string;
  readonly parts: readonly TemplatePart<A>[];
  /** The text if it contains no expression: `evaluate` and `text` are then free. */
  readonly constant: string | undefined;
  /** The type of `evaluate`: that of a single expression without text, otherwise string. */
  readonly type: Type;
  /** The value: of the expression, with its type, if the template is exactly one; otherwise the text. */
  readonly evaluate: (activation: A) => Outcome;
  /** The text: strings as they are, times as RFC 3339, lists and maps as JSON. */
  readonly text: (activation: A) => string | EvalError;
}

export interface CompiledTemplate<A> {
  /** Undefined exactly if a diagnostic is an error. */
  readonly template: Template<A> | undefined;
  /** Spans are offsets in the template. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface TemplateOptions {
  /** Name of the service, for old spellings such as `${.service.geo.city}`. */
  readonly service?: string;
  /** Called with each expression and its start; may replace its closure, for coverage. */
  readonly watch?: TemplateWatch;
}

/** `start` is the offset of the expression in its template, `pointer` that of the template below the given one. */
type TemplateWatch = <A>(program: Program<A>, start: number, pointer: string) => Program<A>;

/** Compiles a template in a scope. Reports all findings at once; never throws. */
export function compileTemplate<A>(
  source: string,
  scope: Scope<A>,
  { service = 'service', watch }: TemplateOptions = {},
): CompiledTemplate<A> {
  const foreign = foreignReferences(source, scope);
  if (!source.includes('${')) return { template: constantTemplate(source, source), diagnostics: foreign };
  const { pieces, problems } = scanTemplate(source);
  const diagnostics = [...foreign, ...problems.map(({ message, span }) => finding(message, span))];
  const parts: TemplatePart<A>[] = [];
  for (const piece of pieces) {
    if (piece.kind === 'text') parts.push(piece);
    else compilePiece(piece, scope, service, parts, diagnostics);
  }
  if (watch !== undefined) {
    for (const [index, part] of parts.entries()) {
      if (part.kind === 'expression')
        parts[index] = { ...part, program: watch(part.program, part.start, '') };
    }
  }
  return { template: hasErrors(diagnostics) ? undefined : templateOf(source, parts), diagnostics };
}

/** `{{ req.host }}` and `$req.host`, as other template languages write references. */
const FOREIGN = /\{\{\s*([A-Za-z][\w.]*)\s*\}\}|\$([A-Za-z]\w*(?:\.\w+)+)/g;

/** Warns about references that are sent as they are written. */
function foreignReferences<A>(source: string, { namespaces, variables }: Scope<A>): Diagnostic[] {
  if (!source.includes('{{') && !/\$[A-Za-z]/.test(source)) return [];
  return Array.from(source.matchAll(FOREIGN)).flatMap(({ 0: written, 1: braced, 2: bare, index }) => {
    const name = braced ?? bare!;
    const [root = ''] = name.split('.');
    if (!namespaces.has(root) && !variables.has(root)) return [];
    const text = `\${${name}}`;
    const span = { start: index, end: index + written.length };
    const fix: Fix = { message: `write ${text}`, span, text, safe: false };
    const message = `'${written}' is not replaced by a value`;
    const hint = `did you mean ${text}?`;
    return [{ code: 'expr.foreign_template', severity: 'warning', message, pointer: '', span, hint, fix }];
  });
}

function finding(message: string, span: Span): Diagnostic {
  return { code: 'expr.template', severity: 'error', message, pointer: '', span };
}

function compilePiece<A>(
  { source, span }: Extract<TemplatePiece, { kind: 'expression' }>,
  scope: Scope<A>,
  service: string,
  parts: TemplatePart<A>[],
  diagnostics: Diagnostic[],
): void {
  const legacy = legacyPath(source, service);
  let start = span.start;
  let current = source;
  if (legacy !== undefined) {
    const old = { start: span.start, end: span.start + legacy.length };
    diagnostics.push(legacyFinding(legacy.path, old));
    current = legacy.path + source.slice(legacy.length);
    // After the path, spans shift by the change of its length; spans inside it cover it entirely anyway.
    start += legacy.length - legacy.path.length;
  }
  const { program, diagnostics: found } = compile(current, scope);
  for (const one of found) diagnostics.push(moved(one, start, span));
  if (program !== undefined) parts.push({ kind: 'expression', program, start });
}

function legacyFinding(path: string, span: Span): Diagnostic {
  const fix: Fix = { message: `write \`${path}\``, span, text: path, safe: true };
  return {
    code: 'expr.legacy_spelling',
    severity: 'warning',
    message: 'a leading dot is the spelling of old header modules',
    pointer: '',
    span,
    hint: `write \`${path}\``,
    fix,
  };
}

/** A finding about an expression, with its positions converted to the template. */
function moved(diagnostic: Diagnostic, start: number, within: Span): Diagnostic {
  const span = diagnostic.span === undefined ? within : shifted(diagnostic.span, start, within);
  const { fix } = diagnostic;
  if (fix === undefined) return { ...diagnostic, span };
  return { ...diagnostic, span, fix: { ...fix, span: shifted(fix.span, start, within) } };
}

function shifted(span: Span, by: number, within: Span): Span {
  const clamp = (offset: number): number => Math.min(Math.max(offset + by, within.start), within.end);
  return { start: clamp(span.start), end: clamp(span.end) };
}

function constantTemplate<A>(source: string, text: string): Template<A> {
  const parts: TemplatePart<A>[] = text === '' ? [] : [{ kind: 'text', text }];
  const evaluate = (): string => text;
  return { source, parts, constant: text, type: STRING, evaluate, text: evaluate };
}

function templateOf<A>(source: string, parts: readonly TemplatePart<A>[]): Template<A> {
  const [first] = parts;
  if (first === undefined) return constantTemplate(source, '');
  if (parts.length === 1 && first.kind === 'text') return constantTemplate(source, first.text);
  if (parts.length === 1 && first.kind === 'expression') {
    const evaluate = locating(first.program, first.start);
    const text = (activation: A): string | EvalError => textOfOutcome(evaluate(activation), source);
    return { source, parts, constant: undefined, type: first.program.type, evaluate, text };
  }
  const text = joining(source, parts);
  return { source, parts, constant: undefined, type: STRING, evaluate: text, text };
}

/** The program with the positions of its errors converted to the template. */
function locating<A>(program: Program<A>, start: number): (activation: A) => Outcome {
  const { evaluate, source } = program;
  return (activation) => {
    const outcome = evaluate(activation);
    if (!(outcome instanceof EvalError)) return outcome;
    const span = outcome.span ?? { start: 0, end: source.length };
    const first = Math.max(0, span.start + start);
    return new EvalError(outcome.code, outcome.message, { start: first, end: span.end + start });
  };
}

function textOfOutcome(outcome: Outcome, source: string): string | EvalError {
  if (typeof outcome === 'string' || outcome instanceof EvalError) return outcome;
  const text = textOf(outcome);
  return text instanceof EvalError
    ? new EvalError(text.code, text.message, { start: 0, end: source.length })
    : text;
}

function joining<A>(
  source: string,
  parts: readonly TemplatePart<A>[],
): (activation: A) => string | EvalError {
  const runs = parts.map((part) => (part.kind === 'text' ? part.text : locating(part.program, part.start)));
  return (activation) => {
    let joined = '';
    for (let index = 0; index < runs.length; index++) {
      const run = runs[index]!;
      const text = typeof run === 'string' ? run : textOfOutcome(run(activation), source);
      if (typeof text !== 'string') return text;
      joined += text;
      if (joined.length > TEMPLATE_LIMIT_UNITS) return fail('expr.limit_exceeded', 'the text is too long');
    }
    return joined;
  };
}

/** The leading-dot spelling of old header modules: `${.conn.client_ip}`, `${.http.request.url.path}`. */
const MOVED: readonly (readonly [old: string, now: string])[] = [
  ['http.request.url.raw', 'req.url.raw'],
  ['http.request.url', 'req.url'],
  ['http.request.method', 'req.method'],
  ['http.request.headers', 'req.headers'],
  ['http.request.user_agent', 'req.user_agent'],
  ['http.response.status_code', 'res.status_code'],
  ['http.response.headers', 'res.headers'],
  ['tls.client_cert.subject.cn', 'conn.tls.client.subject.common_name'],
  ['tls.client_cert.serial_number', 'conn.tls.client.serial_number'],
  ['tls.cipher_suite', 'conn.tls.cipher_suite'],
  ['tls.version', 'conn.tls.version'],
  ['conn.start_ts', 'conn.ts.start'],
  ['conn.server_name', 'conn.tls.sni'],
];

const DOTTED_PATH = /^\s*\.\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)/;

interface LegacyPath {
  /** Length of the old spelling in the source, from its first character. */
  readonly length: number;
  readonly path: string;
}

/** The current name of a path with a leading dot at the start of an expression. */
function legacyPath(source: string, service: string): LegacyPath | undefined {
  const found = DOTTED_PATH.exec(source);
  if (found === null) return undefined;
  return { length: found[0].length, path: movedPath(found[1]!, service) };
}

function movedPath(path: string, service: string): string {
  const geo = `${service}.geo`;
  for (const [old, now] of [...MOVED, [geo, 'conn.geo'] as const]) {
    if (path === old || path.startsWith(`${old}.`)) return now + path.slice(old.length);
  }
  return path;
}
