import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, expect, it, vi } from 'vitest';
import { upstreamsOfEdge } from '../../src/cli/upstream_watch.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { edgeOf, usable } from '../../src/edgeproof.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

it('looks for upstreams share one look-up of a name that has no answer', () => {
  const asked = vi.spyOn(dns, 'lookup').mockReturnValue(undefined);
  syncBuiltinESMExports();
  const backends = Object.fromEntries(
    [1, 2, 3].map((port) => [`b${port}`, { static: { address: `silent.test:${port}` } }]),
  );
  const text = JSON.stringify({ backends, edges: { https: {} } });
  const edge = edgeOf(usable(checkWholeEdge({ name: 'edge.json', text })), {});
  const upstreams = upstreamsOfEdge(() => ({ edge }), { verb: 'dev', waitUpstream: 0, say: () => undefined });
  upstreams.look();
  expect(asked.mock.calls.map(([host]) => host)).toEqual(['silent.test']);
  upstreams.close();
});
