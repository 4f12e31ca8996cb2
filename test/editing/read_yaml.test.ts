import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { expect, test } from 'vitest';
import { readYaml } from '../../src/editing/read_yaml.ts';
import type { YamlNode } from '../../src/editing/yaml_tree.ts';
import { PIECES } from './pieces.ts';

const FILES = globSync('{fixtures,bench,src,schema,peers,.ci}/**/*.{yaml,yml,json}').filter(
  // The explicit key of one file has no tree.
  (path) => !/node_modules|bad_key/.test(path) && readFileSync(path).length < 60_000,
);

const keyText = (written: string): string => written.replaceAll(/^['"]|['"]$/g, '');

/** Places of keys and scalars as the parser of the checker has them. */
function expectedPlaces(text: string, node: unknown, pointer: string, found: string[]): string[] {
  if (isMap(node))
    for (const { key, value } of node.items) {
      if (!isScalar(key) || !key.range) continue;
      const at = `${pointer}/${keyText(text.slice(key.range[0], key.range[1]))}`;
      found.push(`${at} key ${key.range[0]}-${key.range[1]}`);
      expectedPlaces(text, value, at, found);
    }
  else if (isSeq(node))
    node.items.forEach((item, at) => expectedPlaces(text, item, `${pointer}/${at}`, found));
  else if (isScalar(node) && node.range && node.range[0] < node.range[1])
    found.push(`${pointer} ${node.range[0]}-${node.range[1]}`);
  return found;
}

function places(text: string, node: YamlNode | null, pointer: string, found: string[]): string[] {
  if (node?.kind === 'map')
    for (const { key, value } of node.entries) {
      const at = `${pointer}/${keyText(text.slice(key.start, key.end))}`;
      found.push(`${at} key ${key.start}-${key.end}`);
      places(text, value, at, found);
    }
  else if (node?.kind === 'list')
    node.items.forEach((item, at) => places(text, item, `${pointer}/${at}`, found));
  else if (node?.kind === 'scalar') found.push(`${pointer} ${node.start}-${node.end}`);
  return found;
}

function bothOf(text: string) {
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, logLevel: 'error' });
  return {
    isSound: document.errors.length === 0,
    expected: expectedPlaces(text, document.contents, '', []),
    found: places(text, readYaml(text), '', []),
  };
}

test.each(FILES)('%s has the places of the parser', (path) => {
  const text = readFileSync(path, 'utf8');
  if (parseDocument(text).errors.length > 0) return;
  const { expected, found } = bothOf(text);
  expect(found).toEqual(expected);
});

const EDGE = `# comment
backends: &all
  app: { static: { address: "localhost:3000" }, tags: [a, 'b c', d] }
  "other\\"s": *all
edges:
  https:
    shop:
      hostports:
      - 'shop.test:443'   # one
      -   - nested
          - more
      text: |
        first
          second

        third
      folded: >-
        one
        two
      long: words that
        go on here
      é😀: 'it''s'
    # a comment
    last: ~
`;

test.each([
  ['block and flow', EDGE],
  ['CR LF', EDGE.replaceAll('\n', '\r\n')],
  ['a byte order mark', `\ufeff${EDGE}`],
  ['a marker', `---\n${EDGE}`],
  ['tags and anchors', 'a: !!str &x 1\nb: &y\n  c: *x\nd: &z [1, *x]\ne: !t\n- 1\n- !u {f: 1}\n'],
  ['JSON', '{"a": [1, {"b": "x\\"y"}, true, null],\n "c": {}, "d":[],"e":"f"}'],
  ['many lines in brackets', 'a: [\n  b,\n  "c",\n  {d: e\n  , f}\n]\nz: 1\n'],
  ['quotes over lines', 'a: "one\n  two"\nb: \'three\n\n  four\'\nc: ["x\n  y", z]\n'],
  ['colons', 'a: b:c\nurl: http://x.test:80/\n"q": ::1\n? x\n'.replace('? x\n', '')],
  ['comments', 'a: # one\n  b # two\nc: d#e # f\n#g\nh: [1, # i\n  2]\n'],
  ['block texts at the end', 'a:\n  - |\n    x\n  - >+\n    y\n\n'],
  ['a text alone', 'just a text\n'],
])('%s', (_name, text) => {
  const { isSound, expected, found } = bothOf(text);
  expect(isSound).toBe(true);
  expect(found).toEqual(expected);
});

const keysOf = (text: string): string =>
  places(text, readYaml(text), '', [])
    .filter((place) => place.includes(' key '))
    .map((place) => place.replace(/ key .*/, ''))
    .join(' ');

test.each([
  ['a key without its colon', 'a: 1\nbac\nc: 2\n', '/a /bac /c'],
  ['a bracket without its end', 'a:\n  b: [x, {y: 1\n  c: 2\nd: 3\n', '/a /a/b /a/b/1/y /a/c /d'],
  ['a quote without its end', 'a:\n  b: "x\n  c: 2\nd: \'y\n', '/a /a/b /a/c /d'],
  ['a quote without its end in brackets', 'a: ["x, y]\nb: 1\n', '/a /b'],
  ['a line too deep', 'a: 1\n    b: 2\nc: 3\n', '/a /c'],
  ['a line too deep after a map', 'a:\n  b: 1\n   c: 2\n  d: 3\n', '/a /a/b /a/d'],
  ['a line that fits nothing', 'a:\n    b: 1\n  c: 2\nd: 3\n', '/a /a/b /a/c /d'],
  ['a marker without an element', 'a:\n  -\n  - b: 1\n  -', '/a /a/1/b'],
  ['a line between elements', '- a: 1\nb: 2\n- c: 3\n', '/0/a'],
  ['a comma that lacks', 'a: {b: 1\n  c: 2}\nd: 1\n', '/a /a/b /a/c /d'],
])('%s', (_name, text, expected) => {
  expect(keysOf(text)).toBe(expected);
});

test('random edits: nodes lie within the text and within their parents', () => {
  const check = (node: YamlNode | null, from: number, to: number): void => {
    if (node === null) return;
    expect(node.start).toBeGreaterThanOrEqual(from);
    expect(node.end).toBeLessThanOrEqual(to);
    expect(node.end).toBeGreaterThanOrEqual(node.start);
    const parts =
      node.kind === 'map'
        ? node.entries.flatMap(({ key, value }) => [key, value])
        : node.kind === 'list'
          ? node.items
          : [];
    for (const part of parts) check(part, node.start, Math.max(node.end, part?.end ?? 0));
  };
  const piece = fc.constantFrom(...PIECES, '|', '\r', '?');
  const edit = fc.record({ at: fc.nat(EDGE.length), remove: fc.nat(9), insert: piece });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
      const text = edits.reduce(
        (now, { at, remove, insert }) => now.slice(0, at) + insert + now.slice(at + remove),
        EDGE,
      );
      check(readYaml(text), 0, text.length);
    }),
  );
});

test('deep nesting ends', () => {
  for (const open of ['[', '{a: ', '- ', '{']) expect(() => readYaml(open.repeat(20_000))).not.toThrow();
});
