import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AppendAnswer, ExchangeRow, SearchAnswer } from '../../src/inspector/wire.ts';
import { runScenarios } from '../../src/project_files/run_scenarios.ts';
import { application, edgeTo, inspected } from './inspected.ts';

let folder: string;
let add: (file: string) => Promise<{ readonly status: number; readonly value: unknown }>;
const at = (name: string): string => join(folder, name);

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'edgeproof-case-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { address } = await application(() => ({ body: 'ok' }));
  const config = edgeTo(address);
  writeFileSync(at('edge.json'), JSON.stringify(config));
  writeFileSync(at('other.json'), JSON.stringify(config));
  const { send, ok, api } = await inspected(config, { files: { names: () => [at('edge.json')] } });
  await send('/a?b=1', { headers: ['host', 'app.test', 'x-note', "it's: <b>"] });
  const [row] = (await ok<SearchAnswer>('POST', '/api/search', {})).rows as ExchangeRow[];
  add = (file) => api('POST', `/api/exchanges/${row!.seq}/case`, { file });
});

/** The names of the cases of a file, all of which pass. */
async function passing(file: string): Promise<string[]> {
  const names: string[] = [];
  const [result] = await runScenarios([file], {
    selects: () => true,
    seed: null,
    repeat: 1,
    bail: false,
    lines: false,
    onResult: ({ name, status }) => names.push(`${status} ${name}`),
  });
  expect(result!.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return names;
}

describe('a case is added to a scenario file', () => {
  test('that is new, also in a folder of the project', async () => {
    mkdirSync(at('tests'));
    const { value } = await add(at('tests/new.scenario.yaml'));
    expect(value).toMatchObject({ created: true, line: 3 } satisfies Partial<AppendAnswer>);
    expect(readFileSync(at('tests/new.scenario.yaml'), 'utf8')).toContain('edge: "./../edge.json"');
    expect(await passing(at('tests/new.scenario.yaml'))).toHaveLength(1);
  });

  test.each([
    [
      'a list',
      'edge: ./edge.json # ours\ncases:\n# first\n- name: one # 1\n  request: /\n  expect: { status: 200 } # end\n\n# after\n',
    ],
    [
      'a list before other keys',
      'cases:\n    - name: one\n      request: http://app.test/\n      expect: { status: 200 }\nedge: ./edge.json\n',
    ],
    [
      'no end of line',
      'edge: ./edge.json\ncases:\n  - { name: one, request: http://app.test/, expect: { status: 200 } }',
    ],
    [
      'other ends of lines',
      'edge: ./edge.json\r\ncases:\r\n  - name: one\r\n    request: http://app.test/\r\n    expect: { status: 200 }\r\n',
    ],
    [
      'no cases yet',
      'edge: ./edge.json\nsimulation: { duration: 1s, arrivals: [{ rate: 1, request: http://app.test/ }] }\n# end\n',
    ],
  ])('with %s, whose other lines stay as they are', async (_name, given) => {
    const text = given.replace('request: /\n', 'request: http://app.test/\n');
    writeFileSync(at('a.scenario.yaml'), text);
    for (const line of [0, 0]) {
      const answer = await add(at('a.scenario.yaml'));
      expect(answer).toMatchObject({ status: 200, value: { created: false } });
      expect((answer.value as AppendAnswer).line).toBeGreaterThan(line);
    }
    const written = readFileSync(at('a.scenario.yaml'), 'utf8');
    const kept = text.split(/\r?\n/).filter(Boolean);
    expect(written.split(/\r?\n/).filter((line) => kept.includes(line))).toEqual(kept);
    if (text.includes('\r')) expect(written.replaceAll('\r\n', '')).not.toContain('\n');
    expect((await passing(at('a.scenario.yaml'))).slice(-2)).toEqual(['passed GET /a', 'passed GET /a (2)']);
  });
});

describe('nothing is written', () => {
  test.each([
    ['edge.json', 400, 'ends in .scenario.yaml'],
    ['../x.scenario.yaml', 403, 'only files of the project'],
    ['linked/x.scenario.yaml', 403, 'only files of the project'],
    ['link.scenario.yaml', 403, 'only files of the project'],
    ['nowhere/x.scenario.yaml', 404, 'create it first'],
    ['folder.scenario.yaml', 409, 'is not a file'],
    ['broken.scenario.yaml', 409, 'broken.scenario.yaml:2'],
    ['brackets.scenario.yaml', 409, 'brackets.scenario.yaml:2: `cases` is written in brackets'],
    ['others.scenario.yaml', 409, 'others.scenario.yaml:1: it tests other.json'],
  ])('%s', async (name, status, message) => {
    const outside = mkdtempSync(join(tmpdir(), 'edgeproof-outside-'));
    onTestFinished(() => rmSync(outside, { recursive: true }));
    symlinkSync(outside, at('linked'));
    symlinkSync(join(outside, 'y.scenario.yaml'), at('link.scenario.yaml'));
    mkdirSync(at('folder.scenario.yaml'));
    const one = '{ name: one, request: http://app.test/, expect: { status: 200 } }';
    const texts = {
      'broken.scenario.yaml': `edge: ./edge.json\ncasess: []\ncases:\n  - ${one}\n`,
      'brackets.scenario.yaml': `edge: ./edge.json\ncases: [${one}]\n`,
      'others.scenario.yaml': `edge: other.json\ncases:\n  - ${one}\n`,
    };
    for (const [file, text] of Object.entries(texts)) writeFileSync(at(file), text);
    const answer = await add(at(name));
    expect(answer.status).toBe(status);
    expect((answer.value as { message: string }).message).toContain(message);
    for (const [file, text] of Object.entries(texts)) expect(readFileSync(at(file), 'utf8')).toBe(text);
    expect(() => readFileSync(join(outside, 'y.scenario.yaml'))).toThrow('ENOENT');
    expect(() => readFileSync(join(outside, 'x.scenario.yaml'))).toThrow('ENOENT');
  });
});
