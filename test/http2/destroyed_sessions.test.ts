import { once } from 'node:events';
import { performServerHandshake } from 'node:http2';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { guardEnds } from '../../src/http2/session_guards.ts';
import { bothEnds } from '../io/both_ends.ts';
import { settled } from '../io/settled.ts';
import { oneRoute } from '../one_route.ts';
import { runs } from '../random.ts';
import { SERVER, testAuthority } from '../server/tls/authority.ts';
import { ping, PREFACE, settings } from './frames.ts';

it('a destroyed session closes its connection even if a write to it never ends', async () => {
  const socket = new Duplex({ read: () => undefined, write: () => undefined });
  const session = guardEnds(performServerHandshake(socket), socket);
  session.on('error', () => undefined);
  socket.push(Buffer.concat([PREFACE, settings()]));
  await once(session, 'remoteSettings');
  session.destroy();
  await once(session, 'close');
  expect(socket.destroyed).toBe(true);
});

/** Node destroys such a session while one of its writes waits for the client, and does not notice that the client leaves. */
it('clients that flood a session, read nothing and leave do not stay', async () => {
  const authority = testAuthority('servers');
  const { cert, key } = authority.issue('shop.test', SERVER('shop.test'));
  const edge = createEdge(
    oneRoute({}, { tls_certificates: { a: { certificate_pem: cert, private_key_pem: key } } }),
  );
  const listening = await edge.listen({ tls: { port: 0 }, limits: { keepAliveMs: 500, lingerMs: 200 } });
  const flood = Buffer.concat([PREFACE, settings(), ...Array.from({ length: 20_000 }, ping)]);
  const connectAndLeave = async (): Promise<void> => {
    const options = { servername: 'shop.test', ca: authority.cert, ALPNProtocols: ['h2'] };
    const [{ socket }, listeners] = await bothEnds(async () => {
      const made = connect({ host: '127.0.0.1', port: listening.tlsPort!, ...options });
      made.on('error', () => undefined).pause();
      made.end(flood);
      await once(made, 'secureConnect');
      return { socket: made };
    });
    await settled(() => listeners.bytesRead, 1);
    socket.destroy();
  };
  for (let round = 0; round < runs(30, 1); round++)
    await Promise.all(Array.from({ length: 24 }, connectAndLeave));
  expect(await listening.close(10_000)).toEqual({ cut: 0 });
});
