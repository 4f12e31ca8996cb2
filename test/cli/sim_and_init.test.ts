import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { reportOf } from '../reports/report_data.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const OUTAGE = fileURLToPath(new URL('../../fixtures/scenarios/outage.scenario.yaml', import.meta.url));
const SHOP = fileURLToPath(new URL('../../fixtures/scenarios/shop.scenario.yaml', import.meta.url));
const folder = folderWith();

interface Summary {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly backends: Readonly<Record<string, number>>;
}

describe('edgeproof sim', () => {
  it('writes events, a summary and plots; the same seed gives the same, byte for byte', async () => {
    await ensureBuilt();
    const once = async (name: string, ...more: string[]) => {
      const events = join(folder, `${name}.ndjson`);
      const ran = await edgeproof(
        ['sim', OUTAGE, '--json', '--events', events, '--plot', join(folder, `${name}.html`), ...more],
        folder,
      );
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      return { summary: JSON.parse(ran.stdout) as Summary, events: await readFile(events, 'utf8') };
    };
    const first = await once('a');
    const { requests, statuses, backends } = first.summary;
    expect(first.events.trimEnd().split('\n')).toHaveLength(requests);
    // 50 a second at random for 60 s, and exactly 20 a second for 50 s; within four standard deviations.
    expect(Math.abs(requests - 4_000)).toBeLessThan(4 * Math.sqrt(3_000));
    expect(statuses['503']).toBe(backends['none']);
    expect(statuses['500']).toBeGreaterThan(0);
    expect(await once('b')).toEqual(first);
    expect((await once('c', '--seed', 'other')).events).not.toBe(first.events);
    const { plots, strips } = reportOf(await readFile(join(folder, 'a.html'), 'utf8'), 'figures');
    expect(plots.map(({ title }) => title)).toEqual([
      'Offered and served',
      'Responses by status',
      'Decisions',
      'Latency',
    ]);
    const offered = plots[0]!.series[0]!.values as readonly number[];
    const seconds = plots[0]!.at[1]! - plots[0]!.at[0]!;
    expect(offered.reduce((sum, rate) => sum + rate * seconds, 0)).toBeCloseTo(requests, 3);
    expect(plots[0]!.marks.map(({ message }) => message)).toContain('app: 500');
    const [breaker] = strips;
    expect(breaker!.parts.map((state) => (state === null ? '' : breaker!.states[state]!.name))).toContain(
      'open',
    );
  });

  it('prints tables', async () => {
    const { code, stdout } = await edgeproof(['sim', OUTAGE], folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(/requests in 60 s of virtual time\n\nstatus\n {2}200 +[\d,]+ +\d\d\.\d\d %/);
    expect(stdout).toMatch(/\nlatency\n {2}p50 +[\d.]+ ms/);
    expect(stdout).toMatch(/\nper second +offered +served\n {2}from 0\.0 s +\d+\.\d +\d+\.\d\n/);
  });

  it('takes arrivals from a log beside the file', async () => {
    const line = (second: string, path: string) =>
      `shop.test 203.0.113.9 - - [01/Jan/2026:00:00:${second} +0000] "GET ${path} HTTP/1.1" 200 5 "-" "curl/8"`;
    await writeFile(join(folder, 'a.log'), `${line('07', '/a')}\n${line('05', '/b')}\n${line('59', '/c')}\n`);
    const file = (log: string) =>
      `policy: {}\nsimulation: { duration: 30s, arrivals: [{ log: ${log}, speed: 2 }] }\n`;
    await writeFile(join(folder, 'log.scenario.yaml'), file('a.log'));
    const ran = await edgeproof(['sim', 'log.scenario.yaml', '--json', '--events', 'log.ndjson'], folder);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ requests: 3, served_late: 0 });
    const events = (await readFile(join(folder, 'log.ndjson'), 'utf8')).trimEnd().split('\n');
    const times = events.map((text) => {
      const { object } = JSON.parse(text) as {
        object: { conn: { start_ts: string }; http: { request: { url: { path: string } } } };
      };
      return `${object.conn.start_ts.slice(17, 19)} ${object.http.request.url.path}`;
    });
    expect(times).toEqual(['00 /b', '01 /a', '27 /c']);
    await writeFile(join(folder, 'log.scenario.yaml'), file('gone.log'));
    const { code, stderr } = await edgeproof(['sim', 'log.scenario.yaml'], folder);
    expect([code, stderr]).toEqual([3, expect.stringContaining('log.scenario.yaml:2:48')]);
  });

  it('exits 2 for a file without a simulation, and without a file', async () => {
    expect(await edgeproof(['sim', SHOP], folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no simulation'),
    });
    expect((await edgeproof(['sim', 'nowhere.yaml'], folder)).code).toBe(2);
  });
});

describe('edgeproof init', () => {
  it('writes files that pass check and test, and replaces nothing unless it is forced', async () => {
    const made = join(folder, 'project');
    const { mkdir } = await import('node:fs/promises');
    await mkdir(made);
    const wrote = await edgeproof(['init', '--yes'], made);
    expect(wrote.code).toBe(0);
    expect(wrote.stdout).toContain('wrote edge.scenario.yaml');
    expect(await edgeproof(['check', 'edge.yaml'], made)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no problems found'),
    });
    const tested = await edgeproof(['test'], made);
    expect(tested.stdout).toMatch(/7 passed {2}\(2 files/);
    expect(tested.code).toBe(0);
    // The edge uses the policy, and what is wrong in the policy is located there.
    const explained = await edgeproof(['explain', 'GET', 'https://app.test/.git/config'], made);
    expect(explained.stdout).toContain('policy.yml:9:9');
    const policy = await readFile(join(made, 'policy.yml'), 'utf8');
    await writeFile(join(made, 'policy.yml'), policy.replace('type: deny', 'type: dney'));
    const broken = await edgeproof(['check', 'edge.yaml'], made);
    expect(broken.code).toBe(3);
    expect(broken.stdout).toMatch(/^policy\.yml:9:15 error ERR_SERVICE_2201/);
    await writeFile(join(made, 'policy.yml'), policy);
    for (const name of ['edge.yaml', 'policy.yml', 'edge.scenario.yaml', '.github/workflows/edge.yml'])
      expect(await readFile(join(made, name), 'utf8')).toMatch(/^# yaml-language-server: \$schema=/);
    expect(await readFile(join(made, '.github/workflows/edge.yml'), 'utf8')).toContain('edgeproof test');
    expect(await readFile(join(made, '.github/workflows/edge.yml'), 'utf8')).not.toContain('npm ci');
    const again = await edgeproof(['init', '--yes'], made);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was written') });
    // The workflow of a project with a lock file runs the version that it names.
    await writeFile(join(made, 'package-lock.json'), '{}');
    expect((await edgeproof(['init', '--yes', '--force'], made)).code).toBe(0);
    expect(await readFile(join(made, '.github/workflows/edge.yml'), 'utf8')).toMatch(
      /setup-node@v4\n.*\n {6}- run: npm ci\n[^]*npx edgeproof check/,
    );
  });
});
