import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { hasLibrariesFor, requirePeer } from '../peers.ts';

/** The oldest Node that is supported, which is a peer; `EDGEPROOF_OTHER_NODE` names the binary of another. */
const OTHER = process.env['EDGEPROOF_OTHER_NODE'] ?? peerNode();

function peerNode(): string | null {
  return hasLibrariesFor('the same bytes on another Node') ? requirePeer.resolve('node/bin/node') : null;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'edgeproof-node-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The output of a run with one version of Node, without real times. Another seed may make cases fail. */
function madeBy(node: string, args: readonly string[]): string {
  const events = join(folder, 'events.ndjson');
  const { stdout, stderr, status } = spawnSync(node, ['src/cli/main.ts', ...args, '--events', events], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
    maxBuffer: 1 << 28,
  });
  const told = stdout.replaceAll(/"took_ms":[\d.]+/g, '');
  return `${status}\n${stderr}\n${told}\n${readFileSync(events, 'utf8')}`;
}

describe.skipIf(OTHER === null)('another major version of Node', () => {
  it.each([
    ['sim', 'fixtures/scenarios/outage.scenario.yaml'],
    ['sim', 'fixtures/scenarios/compressed.scenario.yaml', '--seed', 'ü'],
    ['test', 'fixtures', '-r', 'ndjson'],
    ['test', 'fixtures', '-r', 'ndjson', '--seed', '7', '--repeat', '3'],
  ])('gives the same bytes for %j %j', (...args) => {
    const own = madeBy(process.execPath, args);
    expect(own.length).toBeGreaterThan(10_000);
    expect(madeBy(OTHER!, args)).toBe(own);
  });
});
