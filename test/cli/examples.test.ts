import { beforeAll, describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../../src/cli/exit_codes.ts';
import { VERBS, VERB_NAMES } from '../../src/cli/verbs.ts';
import { edgeproof, start } from './command.ts';
import { exampleFolder, hasGit, wordsOf } from './table/folder.ts';
import { type Outcome, ranAll } from './table/ran.ts';

// The examples of the help run as they are shown, in the order of the help. `export` and `apply` talk to an instance, and
// `store` to a database and `deliver` to a queue, which their own tests have.

const folder = exampleFolder();
const NEEDS_INSTANCE = /^(?:export|apply) /;
const NEEDS_SERVER = /^(?:store|deliver) /;
const examples = VERB_NAMES.flatMap((verb) => VERBS[verb].examples.map(([line]) => line)).filter(
  (line) => !NEEDS_SERVER.test(line) && (hasGit || !/ main:/.test(line)),
);
/** What an example shows is not always a success. */
const CODES: Readonly<Record<string, number>> = {
  'webhook verify --provider github --secret abc --data payload.json': 1,
  'diff main:edge.yaml edge.yaml': 5,
  'diff -r markdown main:edge.yaml edge.yaml': 5,
  init: 2, // the folder has the files already
  'init --yes': 2,
  lsp: 1, // its input ends before an editor shuts it down
  'lsp --stdio': 1,
};

let outcomes: ReadonlyMap<string, Outcome>;
beforeAll(async () => {
  const jobs = examples
    .filter((line) => !NEEDS_INSTANCE.test(line))
    .map((line) => {
      const words = wordsOf(line);
      const needsPort = /^(?:dev|http)\b/.test(line) && !words.includes('--port');
      return { name: line, args: needsPort ? [...words, '--port', '0'] : words };
    });
  outcomes = new Map((await ranAll(jobs, folder)).map((each) => [each.name, each]));
});

describe('examples of the help', () => {
  it.each(examples.filter((line) => !NEEDS_INSTANCE.test(line)))('edgeproof %s', (line) => {
    const { code, text } = outcomes.get(line)!;
    expect([code, text]).toEqual([CODES[line] ?? 0, expect.any(String)]);
  });

  it('those about an instance run against one', async () => {
    const served = start(['serve', '--port', '0', '--api-port', '0', '--store', 'own.db'], folder);
    const [, url] = await served.waitFor(/management API (http:\S+)/);
    const [, key] = await served.waitFor(/admin key, shown only once: (\S+)/);
    const jobs = examples
      .filter((line) => NEEDS_INSTANCE.test(line))
      .map((line) => ({ name: line, args: wordsOf(line.replace('http://127.0.0.1:4040', url!)) }));
    const ran = await ranAll(jobs, folder, { EDGEPROOF_API_KEY: key! });
    expect(ran.map(({ name, code }) => [name, code])).toEqual([
      [jobs[0]!.name, 0],
      [jobs[1]!.name, 5],
      [jobs[2]!.name, 0],
    ]);
    expect(await served.stop('SIGTERM')).toBe(0);
  });

  it('each verb shows its examples', async () => {
    const shown = await ranAll(
      VERB_NAMES.map((verb) => ({ name: verb, args: [verb, '--help'] })),
      folder,
    );
    for (const { name, code, text } of shown) {
      expect([name, code]).toEqual([name, 0]);
      for (const [line] of VERBS[name as keyof typeof VERBS].examples)
        expect(text).toContain(`  edgeproof ${line}`);
    }
  });

  it('the help has all groups and the exit codes', async () => {
    const { stdout } = await edgeproof(['--help'], folder);
    for (const { group } of Object.values(VERBS)) expect(stdout).toContain(`\n${group}:\n`);
    for (const [code, cause] of EXIT_CODES)
      expect(stdout).toContain(`  ${String(code).padStart(3)}  ${cause}`);
  });
});
