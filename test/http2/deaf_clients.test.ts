import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { CONCURRENT_STREAMS, UNSENT_STREAMS } from '../../src/http2/limits.ts';
import { createHttp2Service } from '../../src/http2/server.ts';
import { createUpstreamClient } from '../../src/http1/upstream_client.ts';
import { replying, testExchangePort, text } from '../http1/test_exchange_port.ts';
import { FRAME, frameReader, PREFACE, request, settings } from './frames.ts';

const REQUESTS = 4_000;

it('responses without content that are not read hold the edge from further requests, and none is lost', async () => {
  const large = { ...text(204, ''), headers: ['x-large', 'a'.repeat(16_000)] };
  const { exchanges, traces } = testExchangePort(replying(large));
  const unfinished = () => traces.reduce((count, { completions }) => count + 1 - completions, 0);
  let most = 0;
  const counting = {
    ...exchanges,
    begin: (raw: Parameters<typeof exchanges.begin>[0]) => {
      const begun = exchanges.begin(raw);
      most = Math.max(most, unfinished());
      return begun;
    },
  };
  const service = createHttp2Service(counting, { upstream: createUpstreamClient() });
  const server = createServer((socket) => {
    const facts = { clientAddress: '127.0.0.1', clientPort: 1, serverAddress: '127.0.0.1', serverPort: 2 };
    service.serve(socket, { ...facts, serverName: '', startMs: 0, tls: null });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  const requests = Array.from({ length: REQUESTS }, (_, at) => request(2 * at + 1, '/'));
  client.write(Buffer.concat([PREFACE, settings(), ...requests]));
  // The buffers of the system take some responses; then the edge waits.
  await expect.poll(() => unfinished()).toBeGreaterThan(UNSENT_STREAMS);

  let answered = 0;
  client.on(
    'data',
    frameReader(({ type }) => void (answered += type === FRAME.headers ? 1 : 0)),
  );
  client.resume();
  await expect.poll(() => answered, { timeout: 20_000 }).toBe(REQUESTS);
  expect(most).toBeLessThanOrEqual(UNSENT_STREAMS + CONCURRENT_STREAMS);
  client.destroy();
  server.close();
  await service.drain(0);
});
