import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { contentOf } from '../io/content_of.ts';
import { LOCALHOST } from '../io/localhost.ts';

const HEAD = /HTTP\/1\.1 200[^]*?\r\n\r\n/g;
/** More than the system buffers of both connections take. */
const REQUESTS = 200;

/** The content of all numbers up to a length: its bytes tell where they belong. */
const numbers = (length: number): string =>
  Array.from({ length: length / 8 }, (_, at) => String(at).padStart(8, '0')).join('');

let served = 0;

/** Answers `/A/60` with 60 times A, and `/numbers/60` with numbers, without a declared length. */
const answer: RequestListener = (message, response) => {
  const [, name, length] = message.url!.split('/');
  if (name === 'A') served++;
  if (name === 'numbers') response.write(numbers(Number(length)));
  response.end(name === 'numbers' ? '' : Buffer.alloc(Number(length), name));
};

describe.each(['an upstream', 'an upstream with TLS'] as const)(
  'a client that reads slowly, of %s',
  (kind) => {
    const upstream = kind === 'an upstream' ? createServer(answer) : createSecureServer(LOCALHOST, answer);
    let listening: Listening;

    beforeAll(async () => {
      await once(upstream.listen(0, '127.0.0.1'), 'listening');
      const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
      const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
      const edge = createEdge({
        backends: { app: { static: { address, tls: { enabled: kind !== 'an upstream' } } } },
        edges: { https: { a: { hostports: ['a.test:443'], routes } } },
      });
      listening = await edge.listen({ upstreamLimits: { verifyTls: false } });
    });
    afterAll(async () => {
      await listening.close(0);
      upstream.close();
    });

    /** The content of another client's response, over the connection to the upstream that is free. */
    const other = (path: string): Promise<string> => contentOf(listening.port, path);

    /** What a client gets that requests `path` many times and reads nothing until `before` has settled. */
    async function slowly(path: string, before: () => Promise<unknown>): Promise<string> {
      const socket = connect(listening.port, '127.0.0.1').pause();
      const one = `GET ${path} HTTP/1.1\r\nHost: a.test\r\n`;
      socket.write(`${one}\r\n`.repeat(REQUESTS - 1));
      socket.write(`${one}Connection: close\r\n\r\n`);
      await before();
      return textOf(socket);
    }

    it.each([20_000, 40_000, 60_000])(
      'gets nothing of the response of another client: %i bytes',
      async (length) => {
        const got = await slowly(`/A/${length}`, async () => {
          // Until the slow client has no room for more.
          for (let before = -1; before !== served;) {
            before = served;
            for (let count = 0; count < 20; count++)
              expect(await other(`/B/${length}`)).toBe('B'.repeat(length));
          }
        });
        expect(got.match(HEAD)).toHaveLength(REQUESTS);
        const content = got.replaceAll(HEAD, '');
        expect(content).toHaveLength(REQUESTS * length);
        expect(content.replaceAll('A', '').slice(0, 20)).toBe('');
      },
    );

    it('gets all content in order', async () => {
      const got = await slowly('/numbers/200000', () => other('/B/60000'));
      const contents = got.split(HEAD).slice(1);
      expect(contents).toHaveLength(REQUESTS);
      const whole = numbers(200_000);
      const wrong = contents.filter(
        (one) => one.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n(?:\r\n)?/g, '') !== whole,
      );
      expect(wrong).toHaveLength(0);
    });
  },
);
