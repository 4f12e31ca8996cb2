import { closeSync, openSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { connect } from 'node:net';
import { createEdge } from '../../src/edgeproof.ts';
import { localCertificates } from '../../src/cli/local_authority.ts';

/**
 * Serves in a process that has few descriptors left, asks for what is loaded by use, gives the descriptors back and
 * asks again. Prints the result as JSON. Its arguments: a folder for the authority, and how many descriptors
 * are left in the bad time.
 */
const [folder = '', left = '0'] = process.argv.slice(2);
let events = 0;
const edge = createEdge(
  {
    backends: {
      app: { static: { address: '127.0.0.1:1' } },
      h2: { static: { address: '127.0.0.1:1', protocol: 'http2' } },
    },
    edges: {
      https: {
        a: {
          hostports: ['a.test:443'],
          tls_termination: {},
          routes: [
            { match_type: 'path_prefix', match: '/h2', backend: { backend_id: 'h2' } },
            { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } },
          ],
        },
      },
    },
  },
  { adoptHosts: 'any', onEvent: () => void events++ },
);
const listening = await edge.listen({ tls: { certificateFor: localCertificates(folder) } });

/** Over HTTP/1.1 by hand: a client library would load files of its own. */
const overHttp1 = (path: string): Promise<string> =>
  ask(
    connect(listening.port, '127.0.0.1'),
    `GET ${path} HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n`,
  );

const overTls = (): Promise<string> =>
  ask(
    connectTls({
      port: listening.tlsPort!,
      host: '127.0.0.1',
      servername: 'a.test',
      rejectUnauthorized: false,
    }),
    'GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n',
  );

function ask(socket: ReturnType<typeof connect>, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    socket.on('error', (error) => resolve(String(error)));
    socket.on('close', () => resolve(text.slice(0, 12)));
    socket.write(request);
  });
}

/** Over HTTP/2 with prior knowledge. */
const overHttp2 = (): Promise<string> =>
  new Promise((resolve) => {
    const session = connectHttp2(`http://127.0.0.1:${listening.port}`);
    session.on('error', (error) => resolve(String(error)));
    session.on('close', () => resolve('closed'));
    const stream = session.request({ ':path': '/', ':authority': 'a.test' });
    stream.on('error', () => undefined);
    stream.on('response', (head) => {
      resolve(String(head[':status']));
      session.destroy();
    });
    stream.end();
  });

const all = async (): Promise<Record<string, string>> => ({
  http1: await overHttp1('/'),
  upstream: await overHttp1('/h2'),
  tls: await overTls(),
  http2: await overHttp2(),
});

const held: number[] = [];
const exhaust = (): void => {
  try {
    for (;;) held.push(openSync('/dev/null', 'r'));
  } catch {
    // none is left
  }
};
exhaust();
for (let at = 0; at < Number(left); at++) closeSync(held.pop()!);
const during = await all();
const eventsDuring = events;
for (const descriptor of held.splice(0)) closeSync(descriptor);
const after = await all();
process.stdout.write(JSON.stringify({ during, eventsDuring, after, events, metrics: edge.metrics() }));
await listening.close(0);
process.exit(0);
