import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { lostEvents } from '../../src/events/lost.ts';
import { oneRoute } from '../one_route.ts';

const LISTENERS: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('no disk');
  },
  rejects: () => Promise.reject(new Error('no disk')),
};

const PG = '1.tcp.test:5432';

it.each(Object.entries(LISTENERS))(
  'a listener that %s loses its event and nothing else',
  async (_how, fails) => {
    const backend = createServer((socket) => void socket.end('x'));
    backend.listen(0, '127.0.0.1');
    await once(backend, 'listening');
    const address = `127.0.0.1:${(backend.address() as AddressInfo).port}`;
    const config = oneRoute({ backend: { backend_id: 'gone' } });
    const said: string[] = [];
    const lost = lostEvents((line) => void said.push(line));
    const edge = createEdge(
      {
        ...config,
        backends: { gone: { http_response: { status_code: 204 } }, pg: { static: { address } } },
        edges: { ...config.edges, tcp: { pg: { hostports: [PG], backend: { backend_id: 'pg' } } } },
      },
      { onEvent: fails, onConnection: fails, lostEvents: lost, adoptHosts: 'any' },
    );
    const listening = await edge.listen({ tcp: { ports: { [PG]: 0 } } });
    for (let count = 1; count <= 2; count++) {
      expect((await fetch(listening.url)).status).toBe(204);
      await expect.poll(() => lost.counts().not_made).toBe(count);
    }
    const { listensOn } = listening.ports().find(({ kind }) => kind === 'tcp')!;
    await once(connect(listensOn, '127.0.0.1').resume(), 'close');
    await expect.poll(() => lost.counts().not_made).toBe(3);
    expect(said[0]).toBe('1 event is lost: Error: no disk');
    await listening.close(0);
    backend.close();
  },
);
