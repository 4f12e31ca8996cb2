import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFetcher } from '../../src/clients/fetch.ts';
import { newSigningKey } from '../../src/crypto/signing_key.ts';
import type { FetchRequest } from '../../src/engine/contract.ts';
import { createEdge } from '../../src/edgeproof.ts';
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

function edgeWithKeysAt(url: string) {
  const config = {
    issuer: { allow_list: [{ value: 'https://idp.test' }] },
    http: { tokens: [{ type: 'jwt', method: 'header', name: 'authorization', prefix: 'Bearer ' }] },
    jws: { allowed_algorithms: ['ES256'], keys: { sources: { additional_jkus: [url] } } },
  };
  const policy = { on_http_request: [{ actions: [{ type: 'jwt-validation', config }] }] };
  const fetch = (request: FetchRequest) => fetcher.fetch(request, new AbortController().signal);
  return createEdge(onePolicy(policy), { clients: { fetch }, upstream: () => new Response('the app') });
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

it('a fetch whose address is checked does not share one whose address is not', () => {
  const url = 'http://127.0.0.1:1/keys';
  expect(keysRequest(url, false).share).not.toBe(keysRequest(url, true).share);
});
