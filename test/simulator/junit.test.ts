import { describe, expect, it } from 'vitest';
import { junitReporter } from '../../src/simulator/report/junit.ts';
import { summaryOf } from '../../src/simulator/result.ts';
import { runText } from './scenario.ts';

/** The format that the xUnit plugin of Jenkins accepts: attributes and children of each element. */
interface Kind {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly children: readonly string[];
  readonly text?: true;
}
const TOLD: Kind = { required: [], optional: ['message', 'type'], children: [], text: true };
const KINDS: Readonly<Record<string, Kind>> = {
  testsuites: {
    required: [],
    optional: ['name', 'time', 'tests', 'failures', 'errors'],
    children: ['testsuite'],
  },
  testsuite: {
    required: ['name', 'tests', 'failures', 'errors'],
    optional: [
      'group',
      'time',
      'skipped',
      'timestamp',
      'hostname',
      'id',
      'package',
      'file',
      'log',
      'url',
      'version',
    ],
    children: ['testsuite', 'properties', 'testcase', 'system-out', 'system-err'],
  },
  testcase: {
    required: ['name'],
    optional: ['time', 'classname', 'group'],
    children: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
  },
  skipped: TOLD,
  error: TOLD,
  failure: TOLD,
};
const TIME = /^(?:(?:\d{0,3},)*\d{3}|\d{0,3})*(?:\.\d{0,3})?$/;
const TOKEN = /<\?xml[^>]*\?>|<(\/?)([\w-]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;

/** What is wrong with a document; empty if nothing is. */
function problemsOf(xml: string): string[] {
  const problems: string[] = [];
  const open: string[] = [];
  let end = 0;
  for (const [whole, slash, name = '', attributes = '', empty, text] of xml.matchAll(TOKEN)) {
    end += whole.length;
    const parent = open.at(-1);
    if (text !== undefined) {
      if (text.trim() !== '' && KINDS[parent ?? '']?.text !== true) problems.push(`text in ${parent}`);
    } else if (slash === '/') {
      if (open.pop() !== name) problems.push(`</${name}>`);
    } else if (name !== '') {
      const kind = KINDS[name];
      if (kind === undefined) problems.push(`<${name}>`);
      const isInPlace = parent === undefined ? name === 'testsuites' : KINDS[parent]!.children.includes(name);
      if (!isInPlace) problems.push(`${name} in ${parent}`);
      const given = new Map(
        [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key!, value!]),
      );
      for (const key of kind?.required ?? []) if (!given.has(key)) problems.push(`${name} without ${key}`);
      for (const [key, value] of given) {
        if (![...kind!.required, ...kind!.optional].includes(key)) problems.push(`${name} ${key}`);
        if (key === 'time' && !TIME.test(value)) problems.push(`time ${value}`);
        if (/^(?:tests|failures|errors|skipped)$/.test(key) && !/^\d+$/.test(value))
          problems.push(`${key} ${value}`);
        if (/&(?!(?:amp|lt|gt|quot|apos|#\d+);)/.test(value)) problems.push(`entity in ${value}`);
      }
      if (empty === '') open.push(name);
    }
  }
  if (end !== xml.length) problems.push(`at ${end}: ${xml.slice(end, end + 40)}`);
  return [...problems, ...open.map((name) => `<${name}> is not closed`)];
}

const CASES = `edge: edge.yaml
cases:
  - { name: "good <&> \\"quoted\\"", request: /healthz, expect: { status: 200 } }
  - { name: "bad \\u0001", request: /healthz, expect: { status: 201 } }
  - { name: later, skip: "not & now", request: /healthz, expect: { status: 200 } }
`;

function report(...texts: readonly string[]): string {
  const files = texts.map((text) => runText(text));
  return junitReporter().finished(files, summaryOf(files, 1_234_567.891), { version: '0', seed: null });
}

describe('JUnit XML', () => {
  it('is valid for Jenkins: passed, failed, skipped and invalid files', () => {
    const xml = report(CASES, 'edge: edge.yaml\ncases: [{ name: x, request: /, expect: { statu: 1 } }]\n');
    expect(problemsOf(xml)).toEqual([]);
    expect(xml).toMatch(/<testsuites name="edgeproof" tests="4" failures="1" errors="1" time="1234.568">/);
    expect(xml).toMatch(/<testsuite name="x.yaml" tests="3" failures="1" errors="0" skipped="1"/);
    expect(xml).toContain('x.yaml:4');
  });

  it.each([
    ['<testsuites name="a" skipped="1"></testsuites>', 'testsuites skipped'],
    ['<testsuites time="1.234567"></testsuites>', 'time 1.234567'],
    ['<testsuites><testcase name="a"/></testsuites>', 'testcase in testsuites'],
    [
      '<testsuites><testsuite name="a" tests="1" failures="0" errors="0"><testcase name="a" line="1"/></testsuite></testsuites>',
      'testcase line',
    ],
    ['<testsuites>', '<testsuites> is not closed'],
  ])('would be found wrong: %s', (xml, problem) => expect(problemsOf(xml)).toContain(problem));
});
