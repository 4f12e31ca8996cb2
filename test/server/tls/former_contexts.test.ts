import { Server } from 'node:tls';
import { queryObjects } from 'node:v8';
import { expect, onTestFinished, test } from 'vitest';
import { createEdge } from '../../../src/edgeproof.ts';
import { SERVER, testAuthority } from './authority.ts';
import { request, secure } from './client.ts';

const SWAPS = 12;

test('contexts of certificates that are no longer configured are released, and others are kept', async () => {
  const authority = testAuthority('servers');
  const pairOf = (host: string) => {
    const { cert, key } = authority.issue(host, SERVER(host));
    return { certificate_pem: cert, private_key_pem: key };
  };
  const kept = pairOf('kept.test');
  const configured = (): object => ({
    backends: { app: { http_response: { status_code: 204 } } },
    tls_certificates: { kept, changed: pairOf('changed.test') },
    edges: {
      https: Object.fromEntries(
        ['kept', 'changed'].map((name) => [
          name,
          {
            hostports: [`${name}.test:443`],
            routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
          },
        ]),
      ),
    },
  });
  const edge = createEdge(configured());
  const listening = await edge.listen({ tls: { port: 0 } });
  onTestFinished(() => void listening.close(0));
  let session: Buffer | undefined;
  /** Whether the connection resumed the session of the one before, which only the same context can. */
  const connected = async (servername: string): Promise<boolean> => {
    const resumed = servername === 'kept.test' && session !== undefined ? { session } : {};
    const socket = await secure({ port: listening.tlsPort!, servername, ca: authority.cert, ...resumed });
    socket.on('session', (ticket) => {
      if (servername === 'kept.test') session = ticket;
    });
    expect((await request(socket, `GET / HTTP/1.1\r\nHost: ${servername}`)).status).toBe(204);
    return socket.isSessionReused();
  };
  await connected('kept.test');
  await connected('changed.test');
  const before = queryObjects(Server, { format: 'count' });
  for (let swap = 0; swap < SWAPS; swap++) {
    edge.swap(configured());
    await connected('changed.test');
    expect(await connected('kept.test')).toBe(true);
  }
  expect(queryObjects(Server, { format: 'count' })).toBeLessThan(before + SWAPS / 2);
});
