import { expect } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import type { Edge } from '../../src/edgeproof.ts';
import { browserOf } from '../auth/browser.ts';
import { SECRET, evilOp } from '../auth/evil_op.ts';
import { ISSUER } from '../auth/gate_edge.ts';
import type { Instance } from './instance.ts';

const op = evilOp({}, () => Date.now());
/** Options of an edge whose logins end at a provider in this process. */
export const options = {
  clients: { oidc: createOidcAnswers(op.fetch).ask },
  upstream: () => new Response('the app'),
};

/** A route that requires a login. */
export async function gate(instance: Pick<Instance, 'make'>): Promise<{ edge: string; route: string }> {
  const { id: backendId } = await instance.make('/backends/static', { address: '127.0.0.1:9' });
  const { id: edge } = await instance.make('/edges/https', { hostports: ['app.test:443'] });
  const { id: route } = await instance.make(`/edges/https/${edge}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: backendId },
    oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET },
  });
  return { edge, route };
}

/** Logs in and returns a function that sends requests with the session's cookies. */
export async function logIn(
  edge: Edge,
): Promise<((at?: Edge) => Promise<number>) & { readonly out: () => Promise<number> }> {
  const browser = browserOf(edge, 'app.test');
  const begun = await browser.go('https://app.test/page');
  const { status } = await browser.go(op.approve(begun.location!));
  expect(status).toBe(302);
  const cookie = await browser.jar.getCookieString('https://app.test/');
  const asks = async (at = edge) => {
    const headers = { accept: 'application/json', cookie };
    return (await at.handle(new Request('https://app.test/', { headers }))).response.status;
  };
  const out = async () => (await browser.go('https://app.test/auth/logout')).status;
  return Object.assign(asks, { out });
}
