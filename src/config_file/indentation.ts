import type { Fix, Span } from '../diagnostics/diagnostic.ts';
import { applied, shifted, spaceAfter } from './syntax_fixes.ts';

/** A line of a YAML file with the wrong indentation. */
export interface IndentationProblem {
  readonly message: string;
  readonly hint: string;
  readonly span: Span;
  /** Counted from 0. */
  readonly line: number;
  /** Null if another indentation is as near. */
  readonly fix: Fix | null;
}

/** A list or a map that is open at a line. */
interface Block {
  readonly kind: 'list' | 'map';
  readonly indent: number;
  /** The last key of a map; the line of the last item of a list. */
  name: string;
  /** Whether the last key or item has no value yet. */
  isEmpty: boolean;
}

/** What a line holds, from its first character that is not a space. */
interface Entry {
  readonly kind: 'list' | 'map' | 'text';
  readonly indent: number;
  readonly name: string;
  readonly rest: string;
}

interface Line {
  readonly number: number;
  readonly start: number;
  readonly indent: number;
}

/**
 * The first line whose indentation does not fit the lines above. The parser of YAML notices most of these mistakes later, and
 * names something else. It is for texts that do not parse; lines between brackets, in quotes and of
 * block texts are left alone.
 */
export function indentationProblem(text: string): IndentationProblem | null {
  const found = firstProblem(text);
  if (found === null) return null;
  const { cure, ...problem } = found;
  return { ...problem, fix: cure === null ? null : cureOf(text, problem, cure) };
}

/** What cures a line: an indentation, that of the first key of the file, or a space after the dash. */
type Cure = number | 'first key' | 'space';

/** A change after which the text has no such problem at this line: of the line alone, or with the lines that are deeper. */
function cureOf(text: string, { span, line }: Omit<IndentationProblem, 'fix'>, cure: Cure): Fix | null {
  if (cure === 'space') return spaceAfter(text.indexOf('-', span.start) + 1);
  const to = cure === 'first key' ? 0 : cure;
  const start = cure === 'first key' ? text.search(/^ +[^\s#]/m) : span.start;
  for (const withDeeper of [false, true]) {
    const fix = shifted(text, start, to, withDeeper);
    const after = firstProblem(applied(text, fix));
    if (after === null || after.line > line) return fix;
  }
  return null;
}

type Problem = Omit<IndentationProblem, 'fix'> & { readonly cure: Cure | null };

function firstProblem(text: string): Problem | null {
  const open: Block[] = [];
  let opaque: Opaque | null = null;
  let start = 0;
  for (const [number, whole] of text.split('\n').entries()) {
    const content = whole.trim();
    const line = { number, start, indent: whole.length - whole.trimStart().length };
    start += whole.length + 1;
    if (content === '' || content.startsWith('#')) continue;
    if (opaque !== null && opaque.holds(whole, line.indent)) continue;
    const entry = entryAt(content, line.indent);
    const found = misplaced(line, entry, content, { open, blockText: opaque?.key ?? null });
    if (found !== null) return found;
    opaque = opened(entry, open, number);
  }
  return null;
}

/** Lines that are not read: block texts, and values in brackets or quotes that go on. */
interface Opaque {
  /** The key of a block text; null for others. */
  readonly key: { readonly name: string; readonly indent: number } | null;
  /** Whether a line belongs to it. */
  readonly holds: (line: string, indent: number) => boolean;
}

function entryAt(content: string, indent: number): Entry {
  const dash = /^-(?: +|$)/.exec(content)?.[0];
  if (dash !== undefined)
    return { kind: 'list', indent, name: '', rest: content.slice(Math.max(dash.length, 1)) };
  const found = /^(?:"([^"]*)"|'([^']*)'|([^\s#'"[\]{}&*!|>%@`-][^#]*?|-[^\s:][^:]*))\s*:(?=\s|$)/.exec(
    content,
  );
  if (found === null) return { kind: 'text', indent, name: '', rest: content };
  const name = found[1] ?? found[2] ?? found[3]!;
  return { kind: 'map', indent, name, rest: content.slice(found[0].length).trim() };
}

/** Opens the blocks that a line begins; what follows it and is not read. */
function opened(entry: Entry, open: Block[], line: number): Opaque | null {
  const { kind, indent, rest } = entry;
  if (kind === 'text') return valueOf(rest, open.at(-1));
  const name = kind === 'map' ? entry.name : `the item at line ${line + 1}`;
  const isEmpty = rest === '' || /^(?:[&!]\S*\s*)?(?:#.*)?$/.test(rest);
  const last = open.at(-1);
  if (last?.kind === kind && last.indent === indent) Object.assign(last, { name, isEmpty });
  else open.push({ kind, indent, name, isEmpty });
  if (isEmpty) return null;
  if (kind === 'map') return valueOf(rest, open.at(-1));
  const inner = entryAt(rest, indent + (entry.rest === rest ? 2 : 0));
  return opened(inner, open, line);
}

function valueOf(rest: string, block: Block | undefined): Opaque | null {
  const { name = '', indent: own = 0 } = block ?? {};
  if (/^(?:[&!]\S+ +)?[|>][-+\d]*\s*(?:#.*)?$/.test(rest))
    return { key: { name, indent: own }, holds: (_line, indent) => indent > own };
  const open = openIn(rest, { quote: '', depth: 0 });
  if (open.quote === '' && open.depth === 0) return null;
  let state = open;
  return {
    key: null,
    holds: (line) => {
      if (state.quote === '' && state.depth === 0) return false;
      state = openIn(line, state);
      return true;
    },
  };
}

interface Nesting {
  readonly quote: string;
  readonly depth: number;
}

/** The quote and the brackets that are open after a value, or its next line. */
function openIn(text: string, before: Nesting): Nesting {
  let { quote, depth } = before;
  const isFlow = depth > 0 || quote !== '' || /^["'[{]/.test(text);
  if (!isFlow) return before;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (quote === '"' && character === '\\') at++;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (`'"`.includes(character) && /[\s[{,:]/.test(text[at - 1] ?? ' ')) quote = character;
    else if ('[{'.includes(character)) depth++;
    else if (']}'.includes(character)) depth = Math.max(0, depth - 1);
    else if (character === '#' && /\s/.test(text[at - 1] ?? ' ')) break;
  }
  return { quote, depth };
}

interface Above {
  readonly open: Block[];
  /** The block text that ends before the line. */
  readonly blockText: Opaque['key'];
}

/** Closes what a line ends; the problem if it fits nothing that is open. */
function misplaced(line: Line, entry: Entry, content: string, { open, blockText }: Above): Problem | null {
  const { kind } = entry;
  const own = line.indent;
  const closed: Block[] = [];
  const problem = (message: string, hint: string, cure: Cure | null): Problem => {
    const end = line.start + Math.max(own, 1);
    return { message, hint, line: line.number, span: { start: line.start, end }, cure };
  };
  while (open.length > 0 && open.at(-1)!.indent > own) closed.push(open.pop()!);
  const last = open.at(-1);
  if (last === undefined) {
    const first = closed.at(-1);
    if (first === undefined) return null;
    const message = `this line is further left than '${first.name}', the first of the file`;
    const hint = `begin all lines of the top level, such as '${first.name}', without spaces`;
    return problem(message, hint, own === 0 ? 'first key' : null);
  }
  if (/^-(?:\w[^:]*:(?:\s|$)|["'[{])/.test(content))
    return problem(
      'a space is missing after the dash',
      /^-\w/.test(content)
        ? `write '- ${content.slice(1).replace(/:.*$/, ':')}'`
        : "write '- ' before the value",
      'space',
    );
  if (kind === 'text') {
    if (blockText !== null)
      return problem(
        `this line is not part of the text of '${blockText.name}', whose lines are indented deeper`,
        `indent it by ${spaces(blockText.indent + 2)}, as the text above`,
        blockText.indent + 2,
      );
    const isUnder = last.indent === own && last.kind === 'map' && last.isEmpty;
    if (!isUnder) return null;
    return problem(
      `the value of '${last.name}' is not indented`,
      `write it on the line of '${last.name}:', or indent it by ${spaces(own + 2)}`,
      own + 2,
    );
  }
  if (fits(own, kind, open, closed)) return null;
  const isDeeper = last.indent < own && closed.length === 0;
  const message = isDeeper
    ? `this line is indented deeper than '${last.name}', which has a value already`
    : last.indent === own
      ? kind === 'list'
        ? `a list item is indented as the keys of '${last.name}' and others`
        : 'a key is between the items of a list'
      : `the indentation of ${spaces(own)} fits no line above`;
  const { hint, to } = nearest(own, kind, [...closed, ...open.toReversed()]);
  return problem(message, hint, to);
}

/** Whether a line continues what is open, or begins the value of the last key or item. */
function fits(own: number, kind: Block['kind'], open: Block[], closed: readonly Block[]): boolean {
  const last = open.at(-1)!;
  if (last.indent < own) return last.isEmpty && closed.length === 0;
  if (last.kind === kind) return true;
  if (kind === 'list') return last.isEmpty && closed.length === 0;
  // A list may be indented as the key that it belongs to; the next key ends it.
  if (open.at(-2)?.indent !== own) return false;
  open.pop();
  return true;
}

/** The nearest indentation that fits; `to` is null if there is none, or two of them. */
function nearest(
  own: number,
  kind: Block['kind'],
  blocks: readonly Block[],
): { readonly hint: string; readonly to: number | null } {
  const places = blocks.flatMap((block, at) => {
    const { name, indent } = block;
    if (block.kind === kind) return [{ indent, as: name, distance: Math.abs(indent - own) }];
    const isAbove = at === 0 && kind === 'list' && block.isEmpty;
    return isAbove
      ? [{ indent: indent + 2, as: `the list of '${name}'`, distance: Math.abs(indent - own) }]
      : [];
  });
  const [near, next] = places.toSorted((one, other) => one.distance - other.distance);
  if (near === undefined)
    return { hint: 'indent it as the lines above that belong together with it', to: null };
  const as = /^the (?:item at line|list of) /.test(near.as) ? near.as : `'${near.as}' above`;
  const isTie = next !== undefined && next.distance === near.distance && next.indent !== near.indent;
  return { hint: `indent it by ${spaces(near.indent)}, as ${as}`, to: isTie ? null : near.indent };
}

function spaces(count: number): string {
  return count === 1 ? '1 space' : `${count} spaces`;
}
