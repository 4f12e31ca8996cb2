import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { edgeproof } from '../cli/command.ts';
import { folderWith } from '../folder.ts';

const edgeOf = (name: string, status: number) => ({
  hostports: [`${name}.test:443`],
  routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: `says_${status}` } }],
});

const says = (status: number) => ({ http_response: { status_code: status } });

/** A folder with an edge file, and the events of `dev` for these URLs. */
function logged(edges: object, urls: readonly string[]): string {
  const config = { backends: { says_200: says(200), says_404: says(404) }, edges: { https: edges } };
  const served = createEdge(config, { adoptHosts: 'loopback' });
  const events = urls.map((url) => `${JSON.stringify(served.decide({ url }).event)}\n`);
  return folderWith({ 'edge.json': JSON.stringify(config), 'events.ndjson': events.join('') });
}

const BOTH = { shop: edgeOf('shop', 200), api: edgeOf('api', 404) };
const LOCAL = ['http://shop.test.localhost:8080/', 'http://api.test.localhost:8080/', 'http://shop.test/'];

it.each([[[]], [['--adopt-hosts']]])('a log of dev is the same on its own edge file %j', async (options) => {
  const folder = logged(BOTH, LOCAL);
  const { code, stdout } = await edgeproof(
    ['replay', 'events.ndjson', '-e', 'edge.json', ...options],
    folder,
  );
  expect(stdout).toContain('3 records: 0 changed, 0 unknown, 3 same');
  expect(code).toBe(0);
});

it('cases of a log of dev have the hosts of the edge', async () => {
  const folder = logged(BOTH, LOCAL);
  const { stderr } = await edgeproof(
    ['record', 'edge.json', '--from', 'events.ndjson', '--to', 'scenario', '-o', 'log.scenario.yaml'],
    folder,
  );
  expect(stderr).toBe('');
  expect(await readFile(join(folder, 'log.scenario.yaml'), 'utf8')).toContain('"http://api.test/"');
  const tested = await edgeproof(['test', 'log.scenario.yaml'], folder);
  expect(tested.stdout).toContain('2 passed');
});

it('says how to decide a log of this machine, whose hosts no edge has', async () => {
  const folder = logged({ shop: edgeOf('shop', 200) }, ['http://localhost:8080/']);
  const replay = (...options: readonly string[]) =>
    edgeproof(['replay', 'events.ndjson', '-e', 'edge.json', ...options], folder);
  const refused = await replay();
  expect(refused.stdout).toContain('1 changed');
  expect(refused.stdout).toContain(
    'no edge has the host of some changed records; with a single edge, --adopt-hosts',
  );
  const adopted = await replay('--adopt-hosts');
  expect(adopted.stdout).toContain('1 same');
  expect(adopted.stdout).not.toContain('--adopt-hosts');
});
