import { verifySignatures } from '../../../src/clients/saml_signatures.ts';
import type { EdgeOptions } from '../../../src/edgeproof.ts';
import { browserOf } from './browser.ts';
import { gateOf } from './gate.ts';
import { formOf, samlifyIdp } from './samlify_idp.ts';

export const IDP = 'https://idp.example.test';
export const HOME = 'https://app.test';
export const START_MS = Date.parse('2026-01-01T00:00:00Z');
export const HOUR_MS = 3_600_000;

/** The whole of a login without a network: the edge, samlify, and a clock that stands until it is moved. */
export function stage(
  config: object = {},
  options: { broken?: 'verifier'; verify?: () => never; node?: Pick<EdgeOptions, 'shared' | 'login'> } = {},
) {
  const clock = { nowMs: START_MS };
  const idp = samlifyIdp(IDP, () => clock.nowMs);
  const verify =
    options.broken === undefined
      ? (options.verify ?? verifySignatures)
      : () => ({ failure: 'unavailable', detail: 'out' }) as const;
  const gate = gateOf(idp.metadata, config, {
    clock: () => clock.nowMs,
    clients: { verify },
    ...options.node,
  });
  const metadata = async (): Promise<string> =>
    (await gate.edge.handle(new Request(`${HOME}/auth/saml/metadata`))).response.text();
  const carry = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (url.origin !== IDP) return (await gate.edge.handle(request)).response;
    if (url.pathname === '/slo') {
      idp.state.logouts.push(request.url);
      return new Response('logged out');
    }
    const sp = await metadata();
    const id = await idp.readRequest(sp, request.url);
    const page = formOf(
      `${HOME}/auth/saml/acs`,
      await idp.respond(sp, id),
      url.searchParams.get('RelayState'),
    );
    return new Response(page, { headers: { 'content-type': 'text/html' } });
  };
  const browser = browserOf(carry);
  return { clock, idp, gate, browser, newBrowser: () => browserOf(carry), metadata };
}
