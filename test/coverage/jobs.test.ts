import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jobsThatPay } from '../../src/cli/testing/find_files.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from '../cli/command.ts';
import { POLICY } from './policy_text.ts';

const COUNT = 4;
const files = Array.from({ length: COUNT }, (_file, at) => `${at}.scenario.yaml`);

/** Cases with random choices, with time, and failing ones, each in a file of its own. */
function casesOf(at: number): string {
  return `policy: policy.yaml
seed: ${at}
cases:
  - name: strangers ${at}
    request: GET /
    expect: { status: 403 }
  - name: a failure
    request: { path: /login, headers: { x-team: a } }
    expect: { status: ${at % 2 === 0 ? 500 : 404} }
  - name: a burst
    timeline:
      - { send: { path: /, count: ${10 + at}, every: 5ms }, expect: { counts: { 403: ${10 + at} } } }
`;
}

const folder = folderWith({
  'policy.yaml': POLICY,
  ...Object.fromEntries(files.map((file, at) => [file, casesOf(at)])),
});

const timeless = (text: string) => text.replaceAll(/"took_ms": [\d.]+/g, '"took_ms": 0');

describe('--jobs', () => {
  it('gives the same results with any count', async () => {
    const runs = await Promise.all(
      [[], ['--jobs', '1'], ['--jobs', '2']].map((jobs) =>
        edgeproof(['test', '-r', 'json', ...jobs], folder),
      ),
    );
    const [own, one, two] = runs.map(({ stdout }) => timeless(stdout));
    expect(JSON.parse(one!)).toMatchObject({ summary: { passed: 10, failed: 2 } });
    expect(two).toBe(one);
    expect(own).toBe(one);
    expect(runs.map(({ code }) => code)).toEqual([1, 1, 1]);
  });

  it('starts threads automatically if they pay off, at most one per processor', async () => {
    const paths = files.map((file) => join(folder, file));
    expect(jobsThatPay(paths, 1)).toBe(1);
    const most = Math.min(COUNT, availableParallelism());
    expect(jobsThatPay(paths, 1_000_000)).toBe(most);
    expect(jobsThatPay(paths.slice(0, 1), 1_000_000)).toBe(1);
  });
});
