import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createUpstream, type IncomingHttpHeaders } from 'node:http';
import { createServer as createOracle, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { CONCURRENT_STREAMS } from '../../src/http2/limits.ts';
import { sized } from '../random.ts';
import { play } from './oracle_client.ts';
import { differenceOf } from './oracle_differences.ts';
import { scriptOf } from './oracle_script.ts';
import { PLAIN, singleSteps } from './oracle_single_steps.ts';
import { SEQUENCE, type Sequence } from './oracle_steps.ts';
import { responseBytes } from './oracle_streams.ts';

/** Calls back with what an application has received; `/never` does not respond. */
function answer(
  { method = '', path = '', headers, content }: Received,
  respond: (seen: string, body: Buffer) => void,
): void {
  content.on('error', () => undefined);
  if (path === '/never') return void content.resume();
  const hash = createHash('sha256').update(`${method} ${path}\n`);
  const names = Object.keys(headers).filter((name) => name.startsWith('x-t') || name === 'cookie');
  for (const name of names.sort()) hash.update(`${name}: ${String(headers[name])}\n`);
  content.on('data', (bytes: Buffer) => hash.update(bytes));
  content.on('end', () => respond(hash.digest('hex').slice(0, 12), Buffer.alloc(responseBytes(path), 'x')));
}

interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly content: Readable;
}

const upstream = createUpstream((incoming, response) => {
  const { method, url: path, headers } = incoming;
  answer({ method, path, headers, content: incoming }, (seen, body) =>
    response.writeHead(200, { 'x-seen': seen }).end(body),
  );
});

const sessions = new Set<ServerHttp2Session>();
const oracle = createOracle({
  settings: { maxConcurrentStreams: CONCURRENT_STREAMS, enableConnectProtocol: true },
})
  .on('sessionError', () => undefined)
  .on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  })
  .on('stream', (stream: ServerHttp2Stream, headers) => {
    const { ':method': method, ':path': path } = headers;
    answer({ method, path, headers, content: stream }, (seen, body) => {
      if (stream.destroyed || stream.closed) return;
      stream.respond({ ':status': 200, 'x-seen': seen });
      stream.end(body);
    });
  });

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

describe('HTTP/2 of the edge and of Node', () => {
  let listening: Listening;

  beforeAll(async () => {
    for (const server of [upstream, oracle]) await once(server.listen(0, '127.0.0.1'), 'listening');
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
    const edge = createEdge({
      backends: { app: { static: { address: `127.0.0.1:${portOf(upstream)}` } } },
      edges: { https: { a: { hostports: ['a.test:443'], routes } } },
    });
    listening = await edge.listen();
  });
  afterAll(async () => {
    await listening.close(0);
    upstream.closeAllConnections();
    upstream.close();
    for (const session of sessions) session.destroy();
    oracle.close();
  });

  /** What differs, and the steps; empty if nothing does. */
  async function differences(sequence: Sequence): Promise<string[]> {
    const sent = scriptOf(sequence);
    const edge = play('the edge', listening.port, sent);
    const node = play('Node', portOf(oracle), sent);
    const difference = differenceOf(sent, ...(await Promise.all([edge, node])));
    if (difference === null) return [];
    return [difference, ...sent.map(({ label, stream }) => `${label} (stream ${stream})`)];
  }

  it.each(singleSteps())('differ only as RFC 9113 allows: %s', async (_name, sequence) => {
    expect(await differences(sequence)).toEqual([]);
  });

  it('differ only as RFC 9113 allows, whatever frames a client sends, and the edge serves the next client', async () => {
    await fc.assert(
      fc.asyncProperty(SEQUENCE, async (sequence) => {
        expect(await differences(sequence)).toEqual([]);
        const next = await play('the edge, for the next client,', listening.port, scriptOf(PLAIN));
        expect(next[1]!.streams.get(1)).toMatch(/^200, 2 bytes, [0-9a-f]{12}$/);
      }),
      { ...sized(8_000, 21), interruptAfterTimeLimit: 100_000, markInterruptAsFailure: true },
    );
  });
});
