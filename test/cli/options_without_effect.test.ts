import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { edgeproof } from './command.ts';
import { exampleFolder } from './table/folder.ts';

// An option that would have no effect is refused, because its user relies on it.

const folder = exampleFolder();
const refusalOf = async (words: readonly string[]): Promise<string> => {
  const { code, stderr } = await edgeproof(words, folder);
  expect(code).toBe(2);
  return stderr;
};

describe('options of verbs that serve', () => {
  it.each([
    ['dev', '--authtoken', 'secret', '--agents'],
    ['dev', '--record-bodies', '5', '--record'],
    ['dev', '--hash-redacted', '--record'],
    ['http', '--hash-key', 'key', '--record'],
    ['http', '--event-filter', 'ev.conn.server_port == 443', '--events'],
    ['record', '--event-filter', 'ev.conn.server_port == 443', '--events'],
    ['serve', '--admin-host', '0.0.0.0', '--admin-port'],
    ['serve', '--shared-unavailable', 'deny', '--shared'],
  ])('%s %s', async (verb, ...words) => {
    const other = words.pop()!;
    const upstream = verb === 'http' ? ['3000'] : [];
    const [lone] = words;
    expect(await refusalOf([verb, ...upstream, ...words])).toContain(
      `${lone} has no effect without ${other}`,
    );
  });

  it.each([
    ['dev', ['--no-watch', '--poll']],
    ['http', ['--no-tls', '--tls-port=0']],
    ['serve', ['--no-tls', '--tls-port=0']],
    ['record', ['--hash-redacted', '--hash-key=key']],
  ] as const)('%s %s exclude each other', async (verb, words) => {
    const upstream = verb === 'http' ? ['3000'] : [];
    expect(await refusalOf([verb, ...upstream, ...words])).toContain('exclude each other: leave one out');
  });
});

describe('options of a report that is not made', () => {
  it.each([
    ['test', '-r', 'json'],
    ['test', '--json'],
    ['cover', '--threshold', 'rules=50'],
    ['mutate', '--threshold', '50'],
    ['replay', 'access.log', '--max-unknown', '1'],
    ['replay', 'access.log', '--min-fidelity', '1'],
  ])('%s %s', async (...words) => {
    expect(await refusalOf([...words, '--partial', '-'])).toContain(
      'is for the report, which `merge` makes of all parts',
    );
  });

  it('cover --no-offer --emit-cases', async () => {
    expect(await refusalOf(['cover', '--no-offer', '--emit-cases', 'more.yaml'])).toContain(
      '--no-offer and --emit-cases exclude each other',
    );
  });
});

describe('files of output', () => {
  it('- is refused where it is not standard output; a file of that name is a surprise', async () => {
    for (const words of [
      ['sim', 'load.scenario.yaml', '--plot', '-'],
      ['test', 'edge.scenario.yaml', '--events', '-'],
    ]) {
      const { code, stderr } = await edgeproof(words, folder);
      expect([code, stderr]).toEqual([
        4,
        '- is standard output, which this option does not write to; name a file\n',
      ]);
    }
    expect(existsSync(join(folder, '-'))).toBe(false);
  });

  it('two outputs are not written to one file', async () => {
    const both = ['-r', 'json=both.out', '-r', 'junit=both.out'];
    expect(await refusalOf(['test', ...both])).toContain('both.out already has another report');
    expect(
      await refusalOf(['sim', 'load.scenario.yaml', '--events', 'both.out', '--plot', 'both.out']),
    ).toContain('--events and --plot name one file');
    expect(existsSync(join(folder, 'both.out'))).toBe(false);
  });
});

it('a store whose database cannot be reached is an I/O error, with its cure', async () => {
  const { code, stderr } = await edgeproof(['keys', 'list', '--store', 'postgres://127.0.0.1:1/x'], folder);
  expect(code).toBe(4);
  expect(stderr).toMatch(
    /^cannot open the store postgres:.*ECONNREFUSED.*; start its database, or correct its address\n$/,
  );
});
