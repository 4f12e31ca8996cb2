import { type AddressInfo, type Socket, createServer } from 'node:net';
import { expect, test, onTestFinished } from 'vitest';
import { ingress } from './ingress.ts';
import { dial } from './sockets.ts';
import { forwarding } from './test_exchange_port.ts';

const answer = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('unsolicited bytes of an upstream are not a response, even if the next request arrives in the same tick', async () => {
  const sockets: Socket[] = [];
  const upstream = createServer((socket) => {
    sockets.push(socket);
    socket.setNoDelay(); // otherwise unsolicited bytes wait for an acknowledgement and arrive too late to be distinguished
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answer('asked')));
  });
  await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void upstream.close());
  const edge = await ingress(forwarding((upstream.address() as AddressInfo).port));
  onTestFinished(async () => void (await edge.close()));
  const client = await dial(edge.port);
  for (let round = 1; round <= 20; round++) {
    client.send(REQUEST);
    await client.until((text) => text.split('asked').length > 2 * round - 1);
    // The request is read first: both have arrived when the edge reads.
    client.send(REQUEST);
    sockets.at(-1)!.write(answer('UNASKED'));
    const got = await client.until((text) => text.split('asked').length > 2 * round);
    expect(got).not.toContain('UNASKED');
  }
  expect(sockets.length).toBeGreaterThan(1);
  for (const socket of sockets) socket.destroy();
});
