import { type Node, dottedPath, walkNodes } from '../../cel/ast.ts';
import type { Program } from '../../cel/program.ts';
import type { Activation } from '../../policy/env/activation.ts';
import { sampleTexts } from './patterns.ts';

/** The variables and names that an expression reads, and the constants that it compares with. */
export interface Asked {
  /** Variables by their full dotted names, such as `req.method`. */
  readonly variables: ReadonlySet<string>;
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  /** Strings that are patterns. */
  readonly patterns: readonly string[];
  /** Whether it looks for a text within another. */
  readonly isSearching: boolean;
  /** Names of header fields, query parameters and cookies. */
  readonly names: Readonly<Record<NamedPart, readonly string[]>>;
  /** Whether it depends on randomness or the time of day. */
  readonly isRandom: boolean;
  readonly isTimed: boolean;
}

type NamedPart = 'header' | 'parameter' | 'cookie' | 'response_header';

/** Collects the constants of an expression. */
export function askedBy(program: Program<Activation>): Asked {
  const variables = new Set<string>();
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const patterns = new Set<string>();
  const names: Record<NamedPart, Set<string>> = {
    header: new Set(),
    parameter: new Set(),
    cookie: new Set(),
    response_header: new Set(),
  };
  walkNodes(program.typed.ast.root, (node) => {
    if (node.kind === 'literal') {
      const { value } = node;
      if (typeof value === 'string') texts.add(value);
      else if (typeof value === 'number') numbers.add(value);
      return;
    }
    const path = dottedPath(node);
    if (path !== undefined) variables.add(path.join('.'));
    const named = namedBy(node);
    if (named !== null) names[named.part].add(named.name.toLowerCase());
    if (node.kind === 'call' && node.name === 'matches') {
      for (const { kind, value } of node.args as readonly { kind: string; value?: unknown }[])
        if (kind === 'literal' && typeof value === 'string') patterns.add(value);
    }
  });
  const isName = (text: string) => Object.values(names).some((own) => own.has(text.toLowerCase()));
  return {
    variables,
    texts: [...texts].filter((text) => !isName(text)),
    numbers: [...numbers],
    patterns: [...patterns],
    isSearching: /\.(?:contains|startsWith|endsWith)\(/.test(program.source),
    isRandom: /\brand\./.test(program.source),
    isTimed: /\btime\.|\btimestamp\(|\.ts\./.test(program.source),
    names: {
      header: [...names.header],
      parameter: [...names.parameter],
      cookie: [...names.cookie],
      response_header: [...names.response_header],
    },
  };
}

/** The field, parameter or cookie that a node reads. */
function namedBy(node: Node): { readonly part: NamedPart; readonly name: string } | null {
  if (node.kind === 'call') {
    const part = partOfCall(node.name);
    const name = node.args.find(({ kind }) => kind === 'literal');
    const value = name?.kind === 'literal' ? name.value : null;
    return part === null || typeof value !== 'string' ? null : { part, name: value };
  }
  if (node.kind === 'index' || node.kind === 'select') {
    const path = dottedPath(node.operand)?.join('.');
    const part = path === undefined ? null : (MAPS[path] ?? null);
    const name =
      node.kind === 'select' ? node.field : node.index.kind === 'literal' ? node.index.value : null;
    return part === null || typeof name !== 'string' ? null : { part, name };
  }
  if (node.kind === 'binary' && node.operator === 'in' && node.left.kind === 'literal') {
    const path = dottedPath(node.right)?.join('.');
    const part = path === undefined ? null : (MAPS[path] ?? null);
    return part === null || typeof node.left.value !== 'string' ? null : { part, name: node.left.value };
  }
  return null;
}

const MAPS: Readonly<Record<string, NamedPart>> = {
  'req.headers': 'header',
  'req.cookies': 'cookie',
  'req.url.query_params': 'parameter',
  'res.headers': 'response_header',
};

function partOfCall(name: string): NamedPart | null {
  if (/^(?:has|get)Req.*Header/.test(name)) return 'header';
  if (/^(?:has|get)Res.*Header/.test(name)) return 'response_header';
  if (/Query/.test(name)) return 'parameter';
  return /ReqCookie/.test(name) ? 'cookie' : null;
}

/** Whether one of the variables matches. */
export function has(variables: ReadonlySet<string>, pattern: RegExp): boolean {
  return [...variables].some((name) => pattern.test(name));
}

/** Constants that expressions compare a variable with, and texts that their patterns match. */
export function textsFor(asked: readonly Asked[], variable: RegExp): string[] {
  const found: string[] = [];
  for (const { variables, texts, patterns, isSearching } of asked) {
    if (!has(variables, variable)) continue;
    if (isSearching) found.push(...texts.flatMap((text) => [text, `x${text}`, `${text}x`]));
    for (const pattern of patterns) found.push(...sampleTexts(pattern));
    found.push(...texts.filter((text) => !patterns.includes(text)));
  }
  return found;
}

/** Values of named fields, parameters or cookies; null for none. */
export function namedPool(
  asked: readonly Asked[],
  part: keyof Asked['names'],
): Map<string, Set<string | null>> {
  const pool = new Map<string, Set<string | null>>();
  for (const { names, texts, patterns } of asked) {
    for (const name of names[part]) {
      const values = pool.get(name) ?? new Set([null, 'x']);
      pool.set(name, values);
      for (const text of texts) if (text.toLowerCase() !== name) values.add(text);
      for (const pattern of patterns) for (const text of sampleTexts(pattern)) values.add(text);
    }
  }
  return pool;
}
