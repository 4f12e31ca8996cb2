import {
  type CST,
  type Document,
  type Node,
  Composer,
  Lexer,
  Parser,
  YAMLParseError,
  isMap,
  isScalar,
} from 'yaml';
import type { Diagnostic, Fix, Source, Span } from '../diagnostics/diagnostic.ts';
import type { ReadingCode } from './codes.ts';
import type { LocatedDocument } from './document.ts';
import { otherMap, otherText } from './other_files.ts';
import { jsonPlaces } from './json_places.ts';
import { locator } from './locate.ts';
import type { More } from '../diagnostics/report.ts';
import { errorsTo } from './report.ts';
import { plainJson } from './plain_json.ts';
import { type Steps, atOnce } from './steps.ts';
import { spaceAfter } from './syntax_fixes.ts';
import { clamped, syntaxProblems } from './syntax_problems.ts';
import { type AliasTargets, valueOf } from './values.ts';

/** The result of reading; the document is null if its text is too broken to continue. */
export interface Reading {
  readonly document: LocatedDocument | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** How messages refer to a kind of file. */
export interface FileKind {
  /** With its article. */
  readonly called: string;
  readonly keys: string;
  readonly smallest: string;
  /** Prefix of the codes of findings in such a file. */
  readonly prefix: string;
}

/** Largest file, in bytes of UTF-8. */
export const FILE_LIMIT_BYTES = 10_000_000;

/** Neither YAML (§5.1) nor a string of JSON (RFC 8259 §7) has these characters; the parser takes them. */
// oxlint-disable-next-line no-control-regex -- they are meant
const CONTROL = /[\0-\x08\v\f\x0e-\x1f]/;

function controlCharacter(
  text: string,
): { readonly message: string; readonly span: Span; readonly more: More } | null {
  const start = text.search(CONTROL);
  if (start < 0) return null;
  const code = text.charCodeAt(start).toString(16).toUpperCase().padStart(4, '0');
  const hint = `remove it, or write \\u${code} in double quotes`;
  const span = { start, end: start + 1 };
  const fix = { message: 'remove the character', safe: false, edit: () => ({ span, text: '' }) };
  return { message: `the control character U+${code} is not allowed`, span, more: { hint, fix } };
}

/** Reads YAML 1.2, which includes JSON. Never throws; problems become diagnostics. */
export function readDocument(source: Source, kind: FileKind): Reading {
  return atOnce(readingOf(source, kind));
}

/** `readDocument` with pauses. */
export function* readingOf(source: Source, kind: FileKind): Steps<Reading> {
  const bytes = Buffer.byteLength(source.text);
  const refuse = (code: ReadingCode, message: string, span: Span, more?: More): Reading => {
    const document = { source, value: undefined, spanOf: () => span, keySpanOf: () => span };
    const diagnostics: Diagnostic[] = [];
    errorsTo<ReadingCode>(diagnostics, document, kind.prefix)(code, '', message, more);
    return { document: null, diagnostics };
  };
  if (bytes > FILE_LIMIT_BYTES) {
    const message = `the file has ${bytes} bytes; the limit is ${FILE_LIMIT_BYTES}`;
    return refuse('too_large', message, { start: 0, end: 0 });
  }
  const control = controlCharacter(source.text);
  if (control !== null) return refuse('not_text', control.message, control.span, control.more);
  const plain = plainReading(source);
  if (plain !== null && otherOf(Object.keys(plain.value as object), source.text, kind) === null)
    return { document: plain, diagnostics: [] };
  let parsed: Document;
  try {
    parsed = yield* parseYaml(source.text);
  } catch {
    // The parser is recursive; only nesting of tens of thousands of levels exhausts the stack.
    return refuse('too_deep', TOO_DEEP, { start: 0, end: 1 });
  }
  return read(source, parsed, kind, refuse);
}

/** Reads JSON, in a small part of the time of the library; null for other texts. */
function plainReading(source: Source): LocatedDocument | null {
  const value = plainJson(source.text);
  return value === null ? null : { source, value, ...jsonPlaces(source.text) };
}

const TOO_DEEP = 'lists and maps are nested too deeply to be read';

/** Parts of a text of YAML, such as a scalar or a space, between two pauses: about a millisecond. */
export const LEXEMES_OF_STEP = 2_000;

/** `parseDocument` of the library, with pauses. */
function* parseYaml(text: string): Steps<Document> {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (++lexemes % LEXEMES_OF_STEP === 0) yield;
  }
  for (const token of parser.end()) tokens.push(token);
  // Duplicate keys are found while values are built, because the parser's own search is quadratic.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, logLevel: 'error' });
  // With `forceDoc` there is always a document.
  const [first, second] = composer.compose(tokens, true, text.length);
  const { range } = second ?? {};
  if (range !== undefined) {
    const message = 'Source contains multiple documents; please use YAML.parseAllDocuments()';
    first!.errors.push(new YAMLParseError([range[0], range[1]], 'MULTIPLE_DOCS', message));
  }
  if (lexemes >= LEXEMES_OF_STEP) yield;
  return first!;
}

type Refuse = (code: ReadingCode, message: string, span: Span, more?: More) => Reading;

function read(source: Source, parsed: Document, kind: FileKind, refuse: Refuse): Reading {
  const whole = { start: 0, end: source.text.length };
  const targets: AliasTargets = new Map();
  const located = locator(parsed, targets);
  const skeleton: LocatedDocument = { source, value: undefined, ...located };
  const exhausted = parsed.errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
  if (exhausted !== undefined) {
    const [start, end] = exhausted.pos;
    return refuse('too_deep', TOO_DEEP, clamped({ start, end }, whole.end), {
      hint: 'write it with fewer levels',
    });
  }
  const problems = syntaxProblems(source.text, [...parsed.errors, ...parsed.warnings], kind.called);
  const other = otherFile(source.text, problems.length > 0 ? null : parsed.contents, kind);
  if (other !== null) return refuse('other_file', other.message, other.span ?? whole, { hint: other.cure });
  if (problems.length > 0) {
    const diagnostics = problems.flatMap(
      ({ code, message, span, hint, fix }) =>
        refuse(code, message, span, {
          hint,
          ...(fix && { fix: { message: fix.message, safe: fix.safe, edit: () => fix } }),
        }).diagnostics,
    );
    return { document: null, diagnostics };
  }
  const { contents, directives } = parsed;
  if (directives?.yaml.explicit === true && directives.yaml.version !== '1.2') {
    const span = clamped({ start: source.text.indexOf('%YAML'), end: source.text.indexOf('\n') }, whole.end);
    return refuse(
      'syntax',
      `the file asks for YAML ${directives.yaml.version}; it is read as YAML 1.2 only`,
      span,
    );
  }
  if (isEmptyContents(contents)) {
    return refuse(
      'empty',
      'the file is empty',
      { start: 0, end: 0 },
      { hint: '`edgeproof init` writes a file to begin with', notes: [kind.smallest] },
    );
  }
  if (!isMap(contents)) {
    const { message, fix } = notAMap(source.text, kind);
    const more = fix === null ? {} : { fix: { message: fix.message, safe: fix.safe, edit: () => fix } };
    return refuse('not_a_map', message, located.spanOf('') ?? whole, more);
  }
  const diagnostics: Diagnostic[] = [];
  const built = valueOf(parsed, targets, kind.called, errorsTo(diagnostics, skeleton, kind.prefix));
  return { document: built === null ? null : { ...skeleton, value: built.value }, diagnostics };
}

/** What the file is instead of one of ours; null if it seems to be one, or nothing that is known. */
function otherFile(
  text: string,
  contents: Node | null,
  kind: FileKind,
): { readonly message: string; readonly cure: string; readonly span: Span | null } | null {
  const said = (of: string) => `this is ${of}, not ${kind.called}`;
  if (!isMap(contents)) {
    const found = otherText(text);
    if (found === null) return null;
    const start = text.search(/\S/);
    const line = text.indexOf('\n', start);
    const span = { start, end: line < 0 ? text.length : line };
    return { message: said(found.called), cure: found.cure, span };
  }
  const keys = contents.items.map(({ key }) => key).filter((key) => isScalar(key));
  const names = keys.map(({ value }) => String(value));
  const found = otherOf(names, text, kind);
  if (found === null) return null;
  const range = keys.find(({ value }) => value === found.key)?.range;
  const span = range ? { start: range[0], end: range[1] } : null;
  return { message: said(found.called), cure: found.cure, span };
}

/** What a map with these keys is instead of a file of this kind. */
function otherOf(
  names: readonly string[],
  text: string,
  { keys: own }: FileKind,
): ReturnType<typeof otherMap> {
  // A file with keys of its kind is one of that kind, whatever else it has.
  const isOwn = Array.from(own.matchAll(/`(\w+)`/g)).some(([, key]) => names.includes(key!));
  return isOwn ? null : otherMap(names, text);
}

function isEmptyContents(contents: Node | null): boolean {
  if (contents === null) return true;
  // A document with only a marker has an empty scalar.
  return isScalar(contents) && contents.value === null;
}

function notAMap(text: string, kind: FileKind): { readonly message: string; readonly fix: Fix | null } {
  const message = `the file has to be a map with keys such as ${kind.keys}`;
  const key = /^\s*[a-z_]+:(?=[^\s/])/.exec(text)?.[0];
  return key === undefined
    ? { message, fix: null }
    : { message: `${message}; a space is missing after the colon`, fix: spaceAfter(key.length) };
}
