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

test('a command line of curl is kept', () => {
  const text = withCase('edge: edge.yaml\n', caseOf("curl -H 'x: 1' \\\n  https://shop.test/", ''));
  expect(casesIn(text)[0]!['curl']).toBe("curl -H 'x: 1'    https://shop.test/");
  expect(checked(text)).toEqual([]);
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
  const text = withCase('edge: edge.yaml\n', casesOfHar(JSON.stringify({ log: { entries: [entry] } })));
  expect(casesIn(text)[0]!['request']).toEqual({
    method: 'POST',
    url: 'https://shop.test/api',
    headers: { 'x-a': ['1', '"2"\n'] },
    body: '{"a": 1}',
  });
  expect(() => casesOfHar('{}')).toThrow('not an HTTP Archive');
});
