import { type Node, childrenOf } from '../cel/ast.ts';
import type { Typed } from '../cel/typed.ts';
import type { Part } from './log_record.ts';

/**
 * Inputs of an expression that a log may lack. `name` null means every field; `presence`: only whether the
 * field is present; `folds`: letter case does not matter.
 */
export type Read =
  | {
      readonly of: 'field';
      readonly name: string | null;
      readonly presence: boolean;
      readonly folds: boolean;
    }
  | { readonly of: 'part'; readonly part: Part };

/** Variables, longest first if one is a prefix of another. */
// table: variables that a log may lack
const VARIABLES: readonly (readonly [prefix: string, read: Read])[] = [
  ['req.headers', field(null)],
  ['req.cookies', field('cookie')],
  ['req.content_type', field('content-type', { folds: true })],
  ['req.content_encoding', field('content-encoding', { folds: true })],
  ['req.content_length', field('content-length')],
  ['req.location', field('location')],
  ['req.user_agent', field('user-agent')],
  ['req.host', field('host')],
  ['req.trailers', part('request trailers')],
  ['req.version', part('request version')],
  ['req.ts', part('request timing')],
  ['req.url.path', part('path')],
  ['req.url.host', field('host', { folds: true })],
  ['req.url.authority', field('host')],
  ['req.url.scheme', part('scheme')],
  ['req.url', part('query')],
  ['conn.client_ip', part('client address')],
  ['conn.geo', part('client address')],
  ['conn.client_port', part('client port')],
  ['conn.ts', part('request timing')],
  ['conn.bytes_in', part('request timing')],
  ['conn.bytes_out', part('request timing')],
  ['conn.tls.client', part('client certificate')],
  ['conn.tls.server', part('TLS handshake')],
  ['conn.tls.negotiated_alpn', part('TLS handshake')],
  ['conn.tls.ja4_fingerprint', part('TLS handshake')],
  ['conn.tls.session_resumed', part('TLS handshake')],
  ['conn.tls', part('TLS version')],
  ['res.status_code', part('response status')],
  ['res', part('response headers')],
  ['vars', part('variables')],
  ['actions', part('results of actions')],
];

/** Functions whose first argument names a field. */
const FIELD_FUNCTIONS: Readonly<Record<string, boolean>> = { getReqHeader: false, hasReqHeader: true };
// table: functions that read what a log may lack
const FUNCTIONS: Readonly<Record<string, Read>> = {
  getReqCookie: field('cookie'),
  hasReqCookie: field('cookie'),
  getQueryParam: part('query'),
  hasQueryParam: part('query'),
  getResHeader: part('response headers'),
  hasResHeader: part('response headers'),
  getResCookie: part('response headers'),
  hasResCookie: part('response headers'),
};
const FOLDING: ReadonlySet<string> = new Set(['lowerAscii', 'upperAscii']);

function field(
  name: string | null,
  { presence = false, folds = false }: { presence?: boolean; folds?: boolean } = {},
): Read {
  return { of: 'field', name, presence, folds };
}

function part(named: Part): Read {
  return { of: 'part', part: named };
}

/** All inputs of a checked expression, or of one of its nodes, that a log may lack. */
export function readsOf<A>(typed: Typed<A>, root: Node = typed.ast.root): readonly Read[] {
  const reads: Read[] = [];
  visit(typed, root, false, reads);
  return reads;
}

/** Whether an expression reads the clock. */
export function readsTime<A>({ meanings }: Typed<A>): boolean {
  return meanings.some((meaning) => meaning?.means === 'variable' && meaning.variable.name === 'time.now');
}

function visit<A>(typed: Typed<A>, node: Node, folds: boolean, reads: Read[]): void {
  const access = fieldAccess(typed, node);
  if (access !== null) {
    reads.push(field(access.name, { presence: access.presence, folds }));
    return;
  }
  const meaning = typed.meanings[node.id];
  if (meaning?.means === 'variable') {
    const read = readOfVariable(meaning.variable.name);
    if (read !== null) reads.push(folds && read.of === 'field' ? { ...read, folds } : read);
    return;
  }
  if (node.kind === 'call') {
    const own = Object.hasOwn(FUNCTIONS, node.name) ? FUNCTIONS[node.name]! : null;
    if (own !== null) reads.push(own);
    if (/^rand\b/.test(node.name) || isChance(node)) reads.push(part('chance'));
    const isFolding = FOLDING.has(node.name);
    for (const child of childrenOf(node)) visit(typed, child, isFolding, reads);
    return;
  }
  // `x[0]` of a list is a value: case folding around it applies to the value.
  const keeps = node.kind === 'index' && folds;
  for (const child of childrenOf(node)) visit(typed, child, keeps, reads);
}

function isChance(node: Extract<Node, { kind: 'call' }>): boolean {
  return node.target?.kind === 'name' && node.target.name === 'rand';
}

function readOfVariable(name: string): Read | null {
  for (const [prefix, read] of VARIABLES) {
    if (name === prefix || name.startsWith(`${prefix}.`)) return read;
  }
  return null;
}

/** `req.headers['x']`, `req.headers.x`, `'x' in req.headers`, `has(req.headers.x)`, `getReqHeader('x')`. */
export function fieldAccess<A>(
  typed: Typed<A>,
  node: Node,
): { readonly name: string | null; readonly presence: boolean } | null {
  if (node.kind === 'index' && isHeaders(typed, node.operand))
    return { name: literalName(node.index), presence: false };
  if (node.kind === 'select' && isHeaders(typed, node.operand))
    return { name: node.field.toLowerCase(), presence: false };
  if (node.kind === 'has' && isHeaders(typed, node.select.operand))
    return { name: node.select.field.toLowerCase(), presence: true };
  if (node.kind === 'binary' && node.operator === 'in' && isHeaders(typed, node.right))
    return node.left.kind === 'literal' ? { name: literalName(node.left), presence: true } : null;
  if (node.kind === 'call' && Object.hasOwn(FIELD_FUNCTIONS, node.name)) {
    const [name] = node.args;
    return { name: name === undefined ? null : literalName(name), presence: FIELD_FUNCTIONS[node.name]! };
  }
  return null;
}

function isHeaders<A>(typed: Typed<A>, node: Node): boolean {
  const meaning = typed.meanings[node.id];
  return meaning?.means === 'variable' && meaning.variable.name === 'req.headers';
}

function literalName(node: Node): string | null {
  return node.kind === 'literal' && typeof node.value === 'string' ? node.value.toLowerCase() : null;
}
