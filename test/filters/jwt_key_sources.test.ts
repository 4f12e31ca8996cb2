import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFetcher } from '../../src/clients/fetch.ts';
import { newSigningKey } from '../../src/crypto/signing_key.ts';
import type { FetchRequest } from '../../src/engine/contract.ts';
import { type EdgeOptions, createEdge } from '../../src/edgeproof.ts';
import { keysRequest } from '../../src/filters/jwt_validation/action_key_sources.ts';
import { onePolicy } from '../one_route.ts';

const key = newSigningKey('right');
const fetcher = createFetcher();
let asked = 0;
const keyServer = createServer((_request, response) => {
  asked++;
  response.end(JSON.stringify({ keys: [key.jwk] }));
});
beforeAll(async () => {
  keyServer.listen(0, '127.0.0.1');
  await once(keyServer, 'listening');
});
afterAll(async () => {
  await fetcher.close();
  keyServer.close();
});

function edgeWithKeysAt(url: string, options: Pick<EdgeOptions, 'clock'> = {}) {
  const config = {
    issuer: { allow_list: [{ value: 'https://idp.test' }] },
    http: { tokens: [{ type: 'jwt', method: 'header', name: 'authorization', prefix: 'Bearer ' }] },
    jws: { allowed_algorithms: ['ES256'], keys: { sources: { additional_jkus: [url] } } },
  };
  const policy = { on_http_request: [{ actions: [{ type: 'jwt-validation', config }] }] };
  const fetch = (request: FetchRequest) => fetcher.fetch(request, new AbortController().signal);
  return createEdge(onePolicy(policy), {
    clients: { fetch },
    upstream: () => new Response('the app'),
    ...options,
  });
}

it('concurrent tokens, which anyone can send, cause one request for keys', async () => {
  const { port } = keyServer.address() as AddressInfo;
  const edge = edgeWithKeysAt(`http://127.0.0.1:${port}/keys`);
  const forged = newSigningKey('right').token({ iss: 'https://idp.test' });
  const authorization = `Bearer ${forged}`;
  const send = () => edge.handle(new Request('https://shop.test/', { headers: { authorization } }));
  const all = await Promise.all(Array.from({ length: 20 }, send));
  expect(new Set(all.map(({ response }) => response.status))).toEqual(new Set([401]));
  expect(asked).toBe(1);
  const good = { authorization: `Bearer ${key.token({ iss: 'https://idp.test' })}` };
  const { response } = await edge.handle(new Request('https://shop.test/', { headers: good }));
  expect(await response.text()).toBe('the app');
});

it('keys are fetched again when the clock was set back: their owner may have rotated them', async () => {
  let nowMs = Date.now();
  const { port } = keyServer.address() as AddressInfo;
  const edge = edgeWithKeysAt(`http://127.0.0.1:${port}/keys`, { clock: () => nowMs });
  const before = asked;
  const authorization = `Bearer ${key.token({ iss: 'https://idp.test' })}`;
  for (const hours of [0, 0, -5, 0, 7]) {
    nowMs += hours * 3_600_000;
    const { response } = await edge.handle(new Request('https://shop.test/', { headers: { authorization } }));
    expect(response.status).toBe(200);
  }
  expect(asked - before).toBe(3);
});

it('a fetch whose address is checked does not share one whose address is not', () => {
  const url = 'http://127.0.0.1:1/keys';
  expect(keysRequest(url, false).share).not.toBe(keysRequest(url, true).share);
});
