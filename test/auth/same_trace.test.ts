import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkClients } from '../../src/clients/network.ts';
import { readIdentities } from '../../src/dev_idp/identities.ts';
import { type ServedIdp, serveIdp } from '../../src/dev_idp/server.ts';
import type { Step } from '../../src/engine/trace.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import { browserOf } from './browser.ts';
import { edgeWith } from './gate_edge.ts';

const WHO = {
  alice: { name: 'Alice', email: 'alice@acme.test', organizations: ['acme'], groups: ['staff'] },
  bob: { name: 'Bob', email: 'bob@elsewhere.test' },
  refuser: { misbehave: 'denied' },
  late: { misbehave: 'code_refused' },
};
let idp: ServedIdp;

beforeAll(async () => {
  idp = await serveIdp(readIdentities(WHO).identities);
});
afterAll(() => idp.close());

/** Steps of all requests to the edge; the words of the world for a failure are its own. */
function told(traces: readonly (readonly Step[])[]) {
  return traces.map((steps) =>
    steps.map(({ code, detail: { detail: _words, ...detail }, phase, verdict }) => ({
      code,
      detail,
      phase,
      verdict,
    })),
  );
}

async function live(module: object, who: string) {
  const edge = edgeWith(module, {
    login: { developmentProvider: idp.url },
    clients: networkClients(),
    upstream: () => new Response(null),
  });
  const browser = browserOf(edge, 'app.test');
  let hop = await browser.go('https://app.test/deep?a=1');
  while (hop.location !== null) {
    const url = new URL(hop.location);
    // Instead of a click on the page of the provider.
    if (url.pathname.startsWith('/as/') || url.pathname === '/authorize')
      url.searchParams.set('login_as', who);
    hop = await browser.go(url.href);
  }
  return told(browser.hops.filter(({ url }) => url.startsWith('https://app.test')).map(({ trace }) => trace));
}

function simulated(module: object, who: keyof typeof WHO) {
  const simulator = createSimulator(edgeWith(module));
  for (const [name, facts] of Object.entries(WHO)) simulator.identity(name, { ...facts });
  const seen = simulator.send({ url: 'https://app.test/deep?a=1', as: who });
  return { last: told([seen.steps])[0], requests: simulator.events().length };
}

describe('a login over the network and a simulated one', () => {
  const oidc = () => ({ oidc: { issuer: idp.url, client_id: 'edge', client_secret: 's3cret' } });
  const managed = { oauth: { provider: { github: { organizations: ['acme'] } } } };

  it.each(['alice', 'bob', 'refuser', 'late'] as const)(
    'have the same trace: OpenID Connect, %s',
    async (who) => {
      const network = await live(oidc(), who);
      const { last, requests } = simulated(oidc(), who);
      expect(last).toEqual(network.at(-1));
      expect(requests).toBe(network.length);
    },
  );

  it('have the same trace where a server framework has replaced the global class of responses', async () => {
    const { Response: native } = globalThis;
    getRequestListener(() => new native(null), { overrideGlobalObjects: true });
    try {
      // Another file may have replaced it before.
      expect((await fetch('data:,')).constructor).not.toBe(globalThis.Response);
      expect((await live(oidc(), 'alice')).at(-1)).toEqual(simulated(oidc(), 'alice').last);
    } finally {
      globalThis.Response = native;
    }
  });

  it.each(['alice', 'bob', 'refuser', 'late'] as const)('have the same trace: OAuth, %s', async (who) => {
    const network = await live(managed, who);
    const { last, requests } = simulated(managed, who);
    expect(last).toEqual(network.at(-1));
    expect(requests).toBe(network.length);
  });
});
