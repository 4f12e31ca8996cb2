import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { networkClients } from '../../src/clients/network.ts';
import { browserOf, codeOf } from './browser.ts';
import { edgeWith } from './gate_edge.ts';
import { CLIENT, type RealOp, realOp } from './real_op.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function privateKey(kid: string): object {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return { ...key.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
}

function gateAt(op: RealOp) {
  return edgeWith(
    { oidc: { issuer: op.issuer, ...CLIENT } },
    { clients: networkClients(), upstream: () => new Response('the app') },
  );
}

describe('oidc-provider itself', () => {
  it('ends the session here when the user logs out there: back-channel logout', async () => {
    // The provider posts to a real address; every request there is forwarded to the gate.
    let take: (request: Request) => Promise<Response> = () => Promise.reject(new Error('no gate yet'));
    const posted: number[] = [];
    const server = createServer((request, response) => {
      void (async () => {
        const body = Buffer.concat(await request.toArray()).toString('utf8');
        const url = `https://app.test${request.url!}`;
        const headers = { 'content-type': request.headers['content-type'] ?? '' };
        const answer = await take(new Request(url, { method: 'POST', headers, body }));
        posted.push(answer.status);
        response.writeHead(answer.status).end(await answer.text());
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const back = `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth/backchannel_logout`;
    const op = await realOp(['https://app.test/auth/callback'], {
      backchannel: back,
      // Its own refuses addresses of this machine.
      fetch: (url: string, options: RequestInit) =>
        fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    });
    closing.push(op.close, async () => void server.close());
    const edge = gateAt(op);
    take = async (request) => (await edge.handle(request)).response;
    const browser = browserOf(edge, 'app.test');
    await browser.visit('https://app.test/');
    expect((await browser.go('https://app.test/')).status).toBe(200);
    const ended = await browser.go(`${op.issuer}/session/end`);
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(ended.text)![1]!;
    const action = /action="([^"]+)"/.exec(ended.text)![1]!;
    await browser.go(action, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `xsrf=${xsrf}&logout=yes`,
    });
    expect(posted).toEqual([200]);
    const after = await browser.go('https://app.test/', { headers: { accept: 'application/json' } });
    expect([after.status, codeOf(after, 'oidc')]).toEqual([401, 'oidc.login_needed']);
  });

  it('rotates its keys, and the next login succeeds', async () => {
    const first = await realOp(['https://app.test/auth/callback'], { jwks: { keys: [privateKey('one')] } });
    const edge = gateAt(first);
    await browserOf(edge, 'app.test').visit('https://app.test/');
    const { port } = new URL(first.issuer);
    await first.close();
    const second = await realOp(['https://app.test/auth/callback'], {
      jwks: { keys: [privateKey('two')] },
      port: Number(port),
    });
    closing.push(second.close);
    const last = await browserOf(edge, 'app.test').visit('https://app.test/');
    expect([last.status, last.text]).toEqual([200, 'the app']);
  });
});
