import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formOf, hexDump } from '../../src/pages/body_forms.ts';
import { headerChanges } from '../../src/pages/header_changes.ts';
import { indentedJson } from '../../src/pages/json_text.ts';
import { lineChanges } from '../../src/pages/line_changes.ts';
import { findingIn } from '../../src/pages/findings.ts';
import { countText, durationText, sizeText } from '../../src/pages/units.ts';
import { visible, visibleLine } from '../../src/pages/visible.ts';

const textBody = (text: string) => ({ bytes: Buffer.byteLength(text), text });
const base64Body = (bytes: Buffer) => ({ bytes: bytes.length, base64: bytes.toString('base64') });

describe('JSON', () => {
  test('any JSON keeps its meaning', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const indented = indentedJson(text);
        if (indented !== null) expect(JSON.parse(indented)).toEqual(JSON.parse(text));
      }),
    );
    expect(indentedJson('{"a":[1,{}],"b":"x{,}"}')).toBe(
      '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": "x{,}"\n}',
    );
  });

  test('a cut end and any depth are shown', () => {
    expect(indentedJson('{"a":"b')).toBe('{\n  "a": "b');
    const deep = '['.repeat(200_000);
    expect(indentedJson(deep)!.length).toBeLessThan(90 * deep.length);
    expect(indentedJson('plain')).toBeNull();
  });
});

describe('bodies', () => {
  test.each([
    [{ bytes: 0, text: '' }, '', { form: 'empty' }],
    [{ bytes: 9 }, '', { form: 'unkept' }],
    [
      textBody('{"a":1}'),
      'application/problem+json; charset=utf-8',
      { form: 'json', text: '{\n  "a": 1\n}' },
    ],
    [textBody('<b>'), 'text/html', { form: 'text', text: '<b>' }],
    [
      textBody('a=1+2&b=%26&c&%zz=1'),
      'application/x-www-form-urlencoded',
      {
        form: 'fields',
        fields: [
          ['a', '1 2'],
          ['b', '&'],
          ['c', ''],
          ['%zz', '1'],
        ],
      },
    ],
    [textBody('<svg onload=alert(1)>'), 'image/svg+xml', { form: 'text', text: '<svg onload=alert(1)>' }],
    [textBody('a'), 'multipart/form-data', { form: 'text', text: 'a' }],
  ])('%j of %s', (body, type, form) => {
    expect(formOf(body, ['Content-Type', type])).toEqual(form);
  });

  test('binary bytes are shown as bytes; a cut character does not make a text binary', () => {
    expect(formOf(base64Body(Buffer.from([0xff, 0xfe, 0, 1])), []).form).toBe('binary');
    expect(formOf(base64Body(Buffer.from('é'.repeat(5)).subarray(0, 9)), [])).toEqual({
      form: 'text',
      text: 'éééé',
    });
    expect(hexDump(new Uint8Array([0, 65]))).toBe(`000000  00 41${' '.repeat(44)}.A`);
  });

  test('multipart bodies, also cut ones', () => {
    const text =
      'preamble\r\n--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nvalue\r\n' +
      '--x\r\nContent-Disposition: form-data; name="f"; filename="p.png"\r\nContent-Type: image/png\r\n\r\n\u0089P';
    const form = formOf(base64Body(Buffer.from(text, 'latin1')), [
      'content-type',
      'multipart/form-data; boundary=x',
    ]);
    expect(form).toMatchObject({
      form: 'parts',
      parts: [
        { name: 'a', fileName: null, form: { form: 'text', text: 'value' } },
        { name: 'f', fileName: 'p.png', form: { form: 'image', type: 'image/png' } },
      ],
    });
  });

  test('any bytes have a form', () => {
    fc.assert(
      fc.property(
        fc.uint8Array(),
        fc.constantFrom(
          'multipart/mixed; boundary=b',
          'application/json',
          'image/png',
          '',
          'multipart/form-data; boundary="',
        ),
        (bytes, type) => {
          expect(formOf(base64Body(Buffer.from(bytes)), ['content-type', type])).toHaveProperty('form');
        },
      ),
    );
  });
});

test('header differences: a changed value is at one place', () => {
  const before = ['Host', 'a', 'Accept', '*/*', 'X-Old', '1'];
  const after = ['host', 'b', 'accept', '*/*', 'X-New', '2'];
  const lines = headerChanges(before, after).map(({ name, value, change }) => `${change} ${name}: ${value}`);
  expect(lines).toEqual([
    'removed Host: a',
    'added host: b',
    'same accept: */*',
    'added X-New: 2',
    'removed X-Old: 1',
  ]);
});

test('line differences give both texts, and equal texts no change', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '')).map((list) => list.join('\n'));
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const changes = lineChanges(before, after);
      const textOf = (other: string) =>
        changes
          .filter(({ change }) => change !== other)
          .map(({ text }) => text)
          .join('\n');
      expect([textOf('added'), textOf('removed')]).toEqual([before, after]);
      if (before === after) expect(changes.every(({ change }) => change === 'same')).toBe(true);
    }),
  );
});

test('hidden characters are seen', () => {
  expect(visible('a\u202eb\u001b[31m\u200b\n\ud800')).toBe(
    String.raw`a\u{202e}b\u{1b}[31m\u{200b}` + '\n' + String.raw`\u{d800}`,
  );
  expect(visible('é 日本 😀')).toBe('é 日本 😀');
  expect(visibleLine('a\nb', 2)).toBe(String.raw`a\n…`);
});

test('units', () => {
  expect([0, 999, 1000, 1234, 67_108_864].map(sizeText)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '1.2 kB',
    '67.1 MB',
  ]);
  expect([0.0004, 0.0061, 3.14, 240, 1400, 125_000].map(durationText)).toEqual([
    '400 ns',
    '6.1 µs',
    '3.1 ms',
    '240 ms',
    '1.4 s',
    '2 min 5 s',
  ]);
  expect([1, 1234, 1_234_567].map(countText)).toEqual(['1', '1,234', '1,234,567']);
});

test('a finding of a server is found in the text; its columns count code points', () => {
  const range = { start: { line: 2, column: 3 }, end: { line: 2, column: 5 } };
  const finding = {
    file: 'a',
    severity: 'error',
    code: 'x',
    message: 'm',
    hint: null,
    notes: [],
    basis: null,
  } as const;
  expect(findingIn('a\n😀b cd', { ...finding, range, fix: null }).span).toEqual({ start: 5, end: 7 });
});
