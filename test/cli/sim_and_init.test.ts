import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
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
    // 50 a second by chance for 60 s, and exactly 20 a second for 50 s; four standard deviations around it.
    expect(Math.abs(requests - 4_000)).toBeLessThan(4 * Math.sqrt(3_000));
    expect(statuses['503']).toBe(backends['none']);
    expect(statuses['500']).toBeGreaterThan(0);
    expect(await once('b')).toEqual(first);
    expect((await once('c', '--seed', 'other')).events).not.toBe(first.events);
    const page = await readFile(join(folder, 'a.html'), 'utf8');
    expect(page.match(/<svg /g)).toHaveLength(4);
    expect(page).toContain('app: 500');
    expect(page).toMatch(/State of the circuit breaker[^]*open at/);
    expect(page).not.toMatch(/(?:src|href)=|@import|url\(|<script/);
  });

  it('prints tables', async () => {
    const { code, stdout } = await edgeproof(['sim', OUTAGE], folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(/requests in 60 s of virtual time\n\nstatus\n {2}200 +[\d,]+ +\d\d\.\d\d %/);
    expect(stdout).toMatch(/\nlatency\n {2}p50 +[\d.]+ ms/);
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
  it('writes files that pass check and test, and replaces nothing', async () => {
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
    expect(await readFile(join(made, '.github/workflows/edge.yml'), 'utf8')).toContain('edgeproof test');
    const again = await edgeproof(['init', '--yes'], made);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was written') });
    expect((await edgeproof(['init', '--yes', '--force'], made)).code).toBe(0);
  });
});
