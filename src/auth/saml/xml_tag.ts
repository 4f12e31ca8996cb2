import { readReference, type Scan, XML_LIMITS, isXmlText, problemAt, skipBlanks } from './xml_scan.ts';
import type { XmlAttribute } from './xml_tree.ts';

/** Namespaces by prefix; the default one by the empty prefix. */
export type NamespaceScope = ReadonlyMap<string, string>;

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

export const XML_ROOT_SCOPE: NamespaceScope = new Map([
  ['', ''],
  ['xml', XML_NAMESPACE],
]);

/** An open element. */
export interface Frame {
  /** As written, with prefix. */
  readonly name: string;
  readonly local: string;
  readonly namespace: string;
  readonly attributes: readonly XmlAttribute[];
  readonly scope: NamespaceScope;
  readonly isEmpty: boolean;
  readonly offset: number;
}

/** ASCII names: sufficient for SAML, and the same for every parser. */
const NAME = /(?:([A-Za-z_][A-Za-z0-9._-]*):)?([A-Za-z_][A-Za-z0-9._-]*)(?=[ \t\r\n=/>])/y;

interface Written {
  readonly prefix: string;
  readonly local: string;
  readonly value: string;
  readonly offset: number;
}

/** Reads a start tag (XML 1.0 §3.1) and resolves its names (Namespaces in XML 1.0 §3 to §6). */
export function openElement(scan: Scan, outer: NamespaceScope): Frame {
  const offset = scan.at;
  scan.at++;
  const { prefix, local, name } = readName(scan);
  const written: Written[] = [];
  for (;;) {
    const before = scan.at;
    skipBlanks(scan);
    const next = scan.text[scan.at];
    const isEmpty = next === '/' && scan.text[scan.at + 1] === '>';
    if (next === '>' || isEmpty) {
      scan.at += isEmpty ? 2 : 1;
      return { name, offset, isEmpty, ...resolve(scan, prefix, local, written, outer) };
    }
    if (before === scan.at) throw problemAt(scan, 'malformed', `has a malformed tag <${name}`);
    if (written.length === XML_LIMITS.attributes) {
      throw problemAt(scan, 'too_complex', `has more than ${XML_LIMITS.attributes} attributes in <${name}>`);
    }
    written.push(readAttribute(scan));
  }
}

function readName(scan: Scan): { readonly prefix: string; readonly local: string; readonly name: string } {
  NAME.lastIndex = scan.at;
  const found = NAME.exec(scan.text);
  if (found === null) throw problemAt(scan, 'malformed', 'has a malformed name');
  scan.at += found[0].length;
  return { prefix: found[1] ?? '', local: found[2]!, name: found[0] };
}

function readAttribute(scan: Scan): Written {
  const offset = scan.at;
  const { prefix, local, name } = readName(scan);
  skipBlanks(scan);
  if (scan.text[scan.at] !== '=')
    throw problemAt(scan, 'malformed', `has an attribute ${name} without value`);
  scan.at++;
  skipBlanks(scan);
  const quote = scan.text[scan.at];
  if (quote !== '"' && quote !== "'")
    throw problemAt(scan, 'malformed', `has no quote after attribute ${name}`);
  scan.at++;
  let value = '';
  for (;;) {
    const next = scan.text[scan.at];
    if (next === undefined || next === '<') {
      throw problemAt(scan, 'malformed', `has no closing quote for attribute ${name}`);
    }
    if (next === quote) break;
    value += next === '&' ? readReference(scan) : readRun(scan, quote);
  }
  scan.at++;
  return { prefix, local, value, offset };
}

/** Characters of a value up to its quote; white space is normalized to spaces (XML 1.0 §3.3.3). */
function readRun(scan: Scan, quote: string): string {
  const { text, at } = scan;
  let end = at;
  while (end < text.length && text[end] !== quote && text[end] !== '<' && text[end] !== '&') end++;
  const run = text.slice(at, end);
  if (!isXmlText(run)) throw problemAt(scan, 'malformed', 'has characters that XML does not allow');
  scan.at = end;
  return run.replaceAll(/\r\n|[\t\n\r]/g, ' ');
}

function resolve(
  scan: Scan,
  prefix: string,
  local: string,
  written: readonly Written[],
  outer: NamespaceScope,
): Pick<Frame, 'local' | 'namespace' | 'attributes' | 'scope'> {
  const scope = scopeOf(scan, written, outer);
  const attributes: XmlAttribute[] = [];
  const seen = new Set<string>();
  for (const { prefix: at, local: name, value, offset } of written) {
    const namespace = isDeclaration(at, name)
      ? XMLNS_NAMESPACE
      : at === ''
        ? ''
        : lookUp(scan, at, scope, offset);
    const key = `${namespace} ${isDeclaration(at, name) ? `${at}:` : ''}${name}`;
    if (seen.has(key)) throw problemAt({ ...scan, at: offset }, 'malformed', `has attribute ${name} twice`);
    seen.add(key);
    if (namespace !== XMLNS_NAMESPACE) attributes.push({ local: name, namespace, value });
  }
  return { local, namespace: lookUp(scan, prefix, scope, scan.at), attributes, scope };
}

function isDeclaration(prefix: string, local: string): boolean {
  return prefix === 'xmlns' || (prefix === '' && local === 'xmlns');
}

function scopeOf(scan: Scan, written: readonly Written[], outer: NamespaceScope): NamespaceScope {
  if (!written.some(({ prefix, local }) => isDeclaration(prefix, local))) return outer;
  const scope = new Map(outer);
  for (const { prefix, local, value, offset } of written) {
    if (!isDeclaration(prefix, local)) continue;
    const declared = prefix === '' ? '' : local;
    // Namespaces in XML 1.0 §3: `xml` and `xmlns` are reserved, and a prefix cannot be undeclared.
    const isReserved = declared === 'xml' || declared === 'xmlns';
    const isBound = value === XML_NAMESPACE || value === XMLNS_NAMESPACE;
    if (isReserved || isBound || (declared !== '' && value === '')) {
      throw problemAt(
        { ...scan, at: offset },
        'malformed',
        `must not bind the prefix '${declared}' to this namespace`,
      );
    }
    scope.set(declared, value);
    if (scope.size > XML_LIMITS.prefixes)
      throw problemAt(scan, 'too_complex', `declares more than ${XML_LIMITS.prefixes} prefixes`);
  }
  return scope;
}

function lookUp(scan: Scan, prefix: string, scope: NamespaceScope, at: number): string {
  const namespace = scope.get(prefix);
  if (namespace === undefined) {
    throw problemAt({ ...scan, at }, 'malformed', `does not declare the prefix '${prefix}'`);
  }
  return namespace;
}
