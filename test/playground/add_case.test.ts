import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { caseOf, casesOfHar, withCase } from '../../src/playground/ui/add_case.ts';
import { sized } from '../random.ts';

const casesIn = (text: string) => (parse(text) as { cases: Record<string, unknown>[] }).cases;
const checked = (text: string) => checkScenario({ name: 'edge.scenario.yaml', text }).diagnostics;

test('a request is added as a case', () => {
  const texts = [
    'edge: edge.yaml\n',
    'edge: edge.yaml\ncases: []\n',
    'edge: edge.yaml\ncases:\n  - { name: a, request: / }',
  ];
  for (const text of texts) {
    const cases = casesIn(withCase(text, caseOf('post /x?y=1', '198.51.100.1')));
    expect(cases.at(-1)).toEqual({
      name: 'post /x?y=1 from 198.51.100.1',
      request: { method: 'POST', url: '/x?y=1', ip: '198.51.100.1' },
      expect: 'snapshot',
    });
  }
});

test('a command line of curl is kept as it was written, under a name of one line', () => {
  for (const line of ["curl -H 'x: 1' \\\n  https://shop.test/", "curl https://shop.test/ -d 'a\\\nb'"]) {
    const text = withCase('edge: edge.yaml\n', caseOf(`$ ${line}\n`, ''));
    expect(casesIn(text)[0]).toMatchObject({ curl: line, name: line.replaceAll(/\\\n\s*/g, ' ') });
    expect(checked(text)).toEqual([]);
  }
});

test('text that is not a request is refused', () => {
  expect(() => caseOf('GET /a b', '')).toThrow('write a path');
});

test('any text of a request gives a valid document', () => {
  const target = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => /^\S+$/.test(text.trim()));
  fc.assert(
    fc.property(target, fc.string({ unit: 'grapheme' }), (url, ip) => {
      const [only] = casesIn(withCase('edge: edge.yaml\n', caseOf(url, ip)));
      expect((only!['request'] as { url: string }).url).toBe(url.trim());
    }),
    sized(1_000),
  );
});

test('requests of an HTTP Archive', () => {
  const entry = {
    request: {
      method: 'POST',
      url: 'https://shop.test/api',
      headers: [
        { name: ':authority', value: 'shop.test' },
        { name: 'X-A', value: '1' },
        { name: 'x-a', value: '"2"\n' },
      ],
      postData: { text: '{"a": 1}' },
    },
  };
  const text = withCase('edge: edge.yaml\n', casesOfHar(JSON.stringify({ log: { entries: [entry] } })).cases);
  expect(casesIn(text)[0]!['request']).toEqual({
    method: 'POST',
    url: 'https://shop.test/api',
    headers: { 'x-a': ['1', '"2"'] },
    body: '{"a": 1}',
  });
  expect(() => casesOfHar('{}')).toThrow('not an HTTP Archive');
});

test('requests of an HTTP Archive that a browser wrote, with what is not a request by HTTP', () => {
  const entryOf = (url: string, more: object = {}) => ({
    request: { method: 'GET', url, headers: [], ...more },
  });
  const entries = [
    entryOf('https://shop.test/a b?q=ü#part', {
      headers: [
        { name: ':method', value: 'GET' },
        { name: ':scheme', value: 'https' },
        { name: '', value: 'x' },
        { name: 'x-line', value: 'a\nb' },
        { name: 'cookie', value: 'a=1' },
        { name: 'cookie', value: 'b=2' },
      ],
    }),
    entryOf('wss://shop.test/live', { headers: [{ name: 'Upgrade', value: 'websocket' }] }),
    entryOf('https://shop.test/form', {
      method: 'POST',
      postData: { mimeType: 'application/x-www-form-urlencoded', params: [{ name: 'a', value: '1 &' }] },
    }),
    entryOf('data:text/plain,x'),
    entryOf('blob:https://shop.test/1'),
    entryOf('chrome-extension://abc/x.js'),
    {},
  ];
  const { cases, others, beyond } = casesOfHar(JSON.stringify({ log: { entries } }));
  expect([others, beyond]).toEqual([4, 0]);
  expect(casesIn(withCase('edge: edge.yaml\n', cases)).map(({ request }) => request)).toEqual([
    {
      method: 'GET',
      url: 'https://shop.test/a%20b?q=%C3%BC',
      headers: { 'x-line': ['a', 'b'], cookie: ['a=1', 'b=2'] },
    },
    { method: 'GET', url: 'https://shop.test/live', headers: { upgrade: 'websocket' } },
    { method: 'POST', url: 'https://shop.test/form', body: 'a=1+%26' },
  ]);
  const many = Array.from({ length: 203 }, (_, at) => entryOf(`https://shop.test/${at}`));
  expect(casesOfHar(JSON.stringify({ log: { entries: many } }))).toMatchObject({ others: 0, beyond: 3 });
});
