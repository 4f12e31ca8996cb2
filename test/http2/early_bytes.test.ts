import { once } from 'node:events';
import { performServerHandshake, type ServerHttp2Session } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guardEarlyBytes } from '../../src/http2/session_guards.ts';
import { SERVER, testAuthority } from '../server/tls/authority.ts';
import { goaway, ping, PREFACE, settings } from './frames.ts';

/** Node passes a new session the bytes of its socket in a separate tick, in which nothing may throw. */

const uncaught: string[] = [];
const onUncaught = (error: Error): void => void uncaught.push(error.stack ?? error.message);
beforeAll(() => void process.on('uncaughtException', onUncaught));
afterAll(() => void process.off('uncaughtException', onUncaught));

function begin(socket: Socket): ServerHttp2Session {
  const session = guardEarlyBytes(performServerHandshake(socket), socket);
  session.on('error', () => undefined);
  return session;
}

async function listening<S extends Server>(server: S): Promise<[S, number]> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return [server, (server.address() as AddressInfo).port];
}

/** A server socket that holds the bytes of a client. */
async function holding(bytes: Buffer): Promise<Socket> {
  const [server, port] = await listening(createServer({ pauseOnConnect: true }));
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  server.close();
  socket.on('error', () => undefined).once('close', () => client.destroy());
  socket.unshift(bytes);
  return socket;
}

const HELLO = Buffer.concat([PREFACE, settings()]);

it('a session that is destroyed before it has read early bytes ends without an error', async () => {
  for (const end of [
    (session: ServerHttp2Session) => session.destroy(),
    (session: ServerHttp2Session) => void session.once('connect', () => session.destroy()),
    (_: ServerHttp2Session, socket: Socket) => void socket.resetAndDestroy(),
  ]) {
    const socket = await holding(HELLO);
    const session = begin(socket);
    const closed = once(session, 'close');
    end(session, socket);
    await closed;
    socket.destroy();
  }
  expect(uncaught).toEqual([]);
});

it('one that is not destroyed reads early bytes, and the socket is unchanged afterwards', async () => {
  const socket = await holding(HELLO);
  const session = begin(socket);
  await once(session, 'remoteSettings');
  expect(Object.hasOwn(socket, 'read')).toBe(false);
  session.destroy();
  await once(session, 'close');
});

it('the same for one that ends in the middle of the bytes that TLS has decrypted', async () => {
  const authority = testAuthority('early bytes');
  const { key, cert } = authority.issue('a.test', SERVER('a.test'));
  const made = createTlsServer({ key, cert, ALPNProtocols: ['h2'] });
  let sessions = 0;
  made.on('tlsClientError', () => undefined);
  made.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    // Code that is loaded on first use creates the session later than the connection.
    setImmediate(() => {
      sessions++;
      begin(socket);
    });
  });
  const [server, port] = await listening(made);
  const records = [Buffer.concat([HELLO, goaway(0, 0)]), ping(), settings()];
  for (let round = 0; round < 30; round++) {
    const client = connectTls({
      port,
      host: '127.0.0.1',
      ca: authority.cert,
      servername: 'a.test',
      ALPNProtocols: ['h2'],
    });
    client.on('error', () => undefined);
    await once(client, 'secureConnect');
    for (const record of round % 2 === 0 ? records : [Buffer.alloc(64, 'A'), ...records])
      client.write(record);
    const closed = once(client, 'close');
    client.resume().end();
    await closed;
  }
  server.close();
  expect(sessions).toBeGreaterThan(20);
  expect(uncaught).toEqual([]);
});
