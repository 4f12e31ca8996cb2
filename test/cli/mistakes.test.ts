import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { stderr, stdout } from '../../src/cli/output.ts';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../folder.ts';

/**
 * Mistakes that users make, and what the command line says about each: its place, its code, its cause and what cures it. Files
 * that a row does not name are those of `BESIDE`.
 */
interface Mistake {
  readonly mistake: string;
  readonly run: string;
  readonly files?: Readonly<Record<string, string | { readonly utf16: string }>>;
  readonly exit: number;
  /** File, line and column; absent where the command line is wrong. */
  readonly place?: string;
  readonly code?: string;
  /** How many findings there are, where one mistake could easily have several. */
  readonly findings?: number;
  readonly cause: string;
  readonly cure: string;
}

const FOLDER = fileURLToPath(new URL('../../fixtures/mistakes/', import.meta.url));
const groups = readdirSync(FOLDER).map((file) => ({
  name: file.replace('.yaml', ''),
  mistakes: parse(readFileSync(join(FOLDER, file), 'utf8')) as readonly Mistake[],
}));

const BESIDE: NonNullable<Mistake['files']> = {
  'edge.yaml': `backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }

`,
};

/** If a mistake is no longer noticed, a verb that serves does not end. */
const LIMIT_MS = 20_000;

const home = process.cwd();
afterAll(() => process.chdir(home));

/** Runs the command line in this process, in a folder with these files. */
async function said({
  run: line,
  files = {},
}: Mistake): Promise<{ readonly code: unknown; readonly out: string }> {
  const texts = Object.entries({ ...BESIDE, ...files });
  const folder = folderWith();
  for (const [name, text] of texts)
    writeFileSync(
      join(folder, name),
      typeof text === 'string' ? text : Buffer.from(`\ufeff${text.utf16}`, 'utf16le'),
    );
  process.chdir(folder);
  let out = '';
  const heard = (text: unknown): true => ((out += String(text)), true);
  // Verbs that serve write to the streams.
  const spies = [process.stdout, process.stderr, stdout, stderr].map((each) =>
    vi.spyOn(each as typeof process.stdout, 'write').mockImplementation(heard),
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, LIMIT_MS, 'it did not end')));
  try {
    const code = await Promise.race([run(line.split(' ')), late]);
    return { code, out };
  } finally {
    clearTimeout(timer);
    for (const spy of spies) spy.mockRestore();
    process.exitCode = undefined;
    process.chdir(home);
  }
}

/** The findings of an output; each begins with its place. */
function findings(out: string): readonly string[] {
  return out.split(/\n(?=\S+:\d+:\d+ (?:error|warning) )/);
}

describe.each(groups)('mistakes: $name', ({ mistakes }) => {
  it.each(mistakes)('$mistake', async (row) => {
    const { code, out } = await said(row);
    expect({ code, out }).toMatchObject({ code: row.exit });
    expect(out).not.toMatch(/a bug in edgeproof|^ +at .*:\d+:\d+\)?$/m);
    const about =
      row.place === undefined
        ? out
        : findings(out).find((each) => each.includes(`${row.place} `) && each.includes(` ${row.code} `));
    expect(about ?? out).toContain(row.place ?? '');
    expect(about ?? `no ${row.code} at ${row.place}:\n${out}`).toContain(row.cause);
    expect(about).toContain(row.cure);
    if (row.findings !== undefined)
      expect(out.match(/^\S+:\d+:\d+ (?:error|warning) /gm)).toHaveLength(row.findings);
  });
});

it('the table has 350 mistakes and more, each once, in twenty-three groups', () => {
  const names = groups.flatMap(({ name, mistakes }) => mistakes.map(({ mistake }) => `${name}: ${mistake}`));
  expect(names.length).toBeGreaterThanOrEqual(350);
  expect(new Set(names).size).toBe(names.length);
  expect(groups).toHaveLength(23);
});
