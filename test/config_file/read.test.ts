import { describe, expect, test } from 'vitest';
import { plainDocument } from '../../src/config_file/document.ts';
import { FILE_LIMIT_BYTES, readDocument } from '../../src/config_file/read.ts';
import { EDGE_FILE } from '../../src/edge/document/edge_file.ts';
import { IS_FULL } from '../random.ts';

function read(text: string) {
  const { document, diagnostics } = readDocument({ name: 'edge.yaml', text }, EDGE_FILE);
  const at = (pointer: string): string | undefined => {
    const span = document?.spanOf(pointer);
    return span && text.slice(span.start, span.end);
  };
  const keyAt = (pointer: string): string | undefined => {
    const span = document?.keySpanOf(pointer);
    return span && text.slice(span.start, span.end);
  };
  return { value: document?.value, codes: diagnostics.map(({ code }) => code), at, keyAt, diagnostics };
}

describe('reading YAML', () => {
  test('returns plain data, and the place of every value and key', () => {
    const { value, at, keyAt, codes } = read('a:\n  - "x y"\n  - {b/c: 1, d~e: [true, null]}\n443: port\n');
    expect(codes).toEqual([]);
    expect(value).toEqual({ a: ['x y', { 'b/c': 1, 'd~e': [true, null] }], '443': 'port' });
    expect(at('/a/0')).toBe('"x y"');
    expect(at('/a/1/b~1c')).toBe('1');
    expect(at('/a/1/d~0e/0')).toBe('true');
    expect(keyAt('/a/1/d~0e')).toBe('d~e');
    expect(keyAt('/443')).toBe('443');
    expect(at('/443')).toBe('port');
    for (const nowhere of ['/b', '/a/2', '/a/x', '/a/0/0', '/a/-1']) expect(at(nowhere)).toBeUndefined();
    expect(keyAt('/a/0')).toBeUndefined();
  });

  test.each([
    ['tabs between tokens', '{\n\t"a": 1,\n\t"b": [\t"x" ]\n}\n', { a: 1, b: ['x'] }],
    ['a byte order mark', '\ufeff{"a": 1}', { a: 1 }],
    ['CR LF', '{\r\n"a": 1\r\n}', { a: 1 }],
    ['escapes', String.raw`{"a": "\u00e9\n\/\ud83d\ude00"}`, { a: 'é\n/😀' }],
    ['numbers', '{"a": -1.5e3, "b": 0}', { a: -1500, b: 0 }],
  ])('reads JSON with %s', (_name, text, value) => {
    const result = read(text);
    expect(result.codes).toEqual([]);
    expect(result.value).toEqual(value);
  });

  test('words that other YAML versions read as values are strings', () => {
    expect(read('a: yes\nb: off\nc: 0o17\nd: 017\ne: 2001-01-01\nf: 1_000').value).toEqual({
      a: 'yes',
      b: 'off',
      c: 15,
      d: 17,
      e: '2001-01-01',
      f: '1_000',
    });
  });

  test('an alias has the value of its anchor, of the nearest one before it', () => {
    const { value, at, codes } = read('a: &x [1]\nb: *x\nc: &x [2]\nd: *x\ne: &y {f: *x}\ng: *y\n');
    expect(codes).toEqual([]);
    expect(value).toEqual({ a: [1], b: [1], c: [2], d: [2], e: { f: [2] }, g: { f: [2] } });
    expect(at('/b')).toBe('*x');
    expect(at('/b/0')).toBe('1');
    expect(at('/g/f/0')).toBe('2');
  });

  test('an alias inside its own anchor terminates', () => {
    expect(read('a: &x {b: *x}').codes).toEqual(['edge.too_deep']);
  });

  test('many aliases are fast', () => {
    const text = `a: &x [1, 2]\nb: [${Array.from({ length: 20_000 }, () => '*x').join(', ')}]\n`;
    const begin = performance.now();
    expect(read(text).codes).toEqual([]);
    expect(performance.now() - begin).toBeLessThan(10_000);
  });

  test('each second definition of a key is marked', () => {
    const { value, codes, diagnostics } = read('a: 1\nb: 2\na: 3\na: 4\n');
    expect(codes).toEqual(['edge.duplicate_key', 'edge.duplicate_key']);
    expect(diagnostics.map(({ span }) => span?.start)).toEqual([10, 15]);
    expect(diagnostics[0]?.notes).toEqual(['the first is at line 1']);
    expect(value).toEqual({ a: 1, b: 2 });
  });

  test('merge keys are reported, since they would be keys of their own; quoted ones are keys', () => {
    const { codes, diagnostics } = read('a: &a { b: 1 }\nc:\n  <<: *a\n');
    expect(codes).toEqual(['edge.bad_key']);
    expect(diagnostics[0]!.message).toContain('YAML 1.2 has no merge keys');
    expect(read("a: { '<<': 1 }\n").value).toEqual({ a: { '<<': 1 } });
  });

  test('many keys are fast', () => {
    const count = IS_FULL ? 100_000 : 20_000;
    const text = Array.from({ length: count }, (_, index) => `k${index}: 1`).join('\n');
    const begin = performance.now();
    const { codes, at } = read(text);
    expect(codes).toEqual([]);
    for (let index = 0; index < count; index += 10) expect(at(`/k${index}`)).toBe('1');
    expect(performance.now() - begin).toBeLessThan(20_000);
  });

  test.each([
    ['', 'edge.empty'],
    [' \n# only this\n', 'edge.empty'],
    ['---\n', 'edge.empty'],
    ['---\n...\n', 'edge.empty'],
    ['null', 'edge.empty'],
    ['[]', 'edge.not_a_map'],
    ['text', 'edge.not_a_map'],
    ['a: 1\n---\nb: 1', 'edge.several_documents'],
    ['%YAML 1.1\n---\na: yes', 'edge.syntax'],
    ['%NEW\n---\na: 1', 'edge.syntax'],
    ['a: "\\q"', 'edge.syntax'],
    ['a: !!set {x}', 'edge.unknown_tag'],
  ])('%j is refused', (text, code) => {
    expect(read(text).codes).toContain(code);
  });

  test('any depth of brackets is refused without an exception', () => {
    for (const depth of [100, 5000, 50_000]) {
      const { codes } = read('['.repeat(depth));
      expect(codes.length).toBeGreaterThan(0);
      expect(['edge.syntax', 'edge.too_deep']).toContain(codes[0]);
    }
  });

  test('text that is too deep for the parser is refused where it is', () => {
    for (const deep of [`[`.repeat(5_000) + `]`.repeat(5_000), '{a: '.repeat(5_000) + '}'.repeat(5_000)]) {
      const { codes, diagnostics } = read(`edges: ${deep}`);
      expect(codes).toEqual(['edge.too_deep']);
      expect(diagnostics[0]!.message).toBe('lists and maps are nested too deeply to be read');
      expect(diagnostics[0]!.hint).toBe('write it with fewer levels');
    }
  });

  test('prototype keys stay out of the value', () => {
    const { value, codes } = read('__proto__: {x: 1}\nconstructor: 1\n');
    expect(codes).toEqual(['edge.bad_key']);
    expect(Object.keys(value as object)).toEqual(['constructor']);
    expect((value as { x?: number }).x).toBeUndefined();
  });

  test('files above ten million bytes are not read', () => {
    const text = `# ${'é'.repeat(FILE_LIMIT_BYTES / 2)}`;
    expect(read(text).codes).toEqual(['edge.too_large']);
    expect(read(`# ${'e'.repeat(FILE_LIMIT_BYTES - 2)}`).codes).toEqual(['edge.empty']);
  });
});

test('an object has a value and no places', () => {
  const value = { edges: {} };
  const document = plainDocument(value);
  expect(document.value).toBe(value);
  expect(document.spanOf('/edges')).toBeUndefined();
  expect(document.source).toBeUndefined();
});

describe('fixes of texts that cannot be read', () => {
  test.each([
    ['a bracket of the whole text', '{\n  "a": {}\n', '{\n  "a": {}\n}\n'],
    ['a list', '[1, 2', '[1, 2\n]'],
    ['no space after the colon', 'edges:{}\n', 'edges: {}\n'],
    ['a zero byte', 'a: b\0c\n', 'a: bc\n'],
  ])('%s', (_name, text, expected) => {
    const [found] = read(text).diagnostics;
    const { span, text: written } = found!.fix!;
    expect(text.slice(0, span.start) + written + text.slice(span.end)).toBe(expected);
  });

  test('two open brackets have no single cure', () => {
    expect(read('{\n  "a": [\n').diagnostics.map(({ fix }) => fix)).toEqual([undefined]);
  });

  test.each(['\0', '\u0007', '\u001b', '\v', '\f'])('the character %j is found at its place', (letter) => {
    const [found] = read(`a: 1\nb: "x${letter}y"\n`).diagnostics;
    expect(found).toMatchObject({ code: 'edge.not_text', span: { start: 10, end: 11 } });
    expect(read(`# ${letter}\n`).codes).toEqual(['edge.not_text']);
  });

  test('an address is not a key without a space', () => {
    expect(read('http://a.test').diagnostics[0]).not.toHaveProperty('fix');
  });
});
