import { Writable } from 'node:stream';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Http1UpstreamRequest } from '../../../src/http1/upstream_request.ts';
import type { Pool } from '../../../src/http1/upstream_pools.ts';
import { WriteBuffer } from '../../../src/io/write_buffer.ts';
import { tickBatch } from '../../../src/io/tick_batch.ts';
import type { Body, ForwardTaker } from '../../../src/io/ports.ts';
import { readRequestHead } from '../../../src/engine/request_head.ts';
import { forwardedResponse, requestForwarder } from '../../../src/http/forwarding.ts';
import { formatTarget } from '../../../src/http/target.ts';
import { Http1Sink } from '../../../src/http1/server_sink.ts';
import { readRequest, readResponse } from '../exchange_cases/strict_http.ts';
import { runs, seeded } from '../../random.ts';
import { llhttpReads } from './llhttp.ts';
import { type ReadMessage, readRequests, readResponses } from './messages.ts';
import { cutsOf, mutated } from './mutations.ts';

/**
 * * Messages that our parser accepted from mutated streams are written as for an upstream or a client, and parsed again
 * by a second strict parser and by Node's: exactly one message, the same content, and no further bytes.
 */

const COUNT = runs(60_000);
const forward = requestForwarder({ auth: 'service-auth-', mtls: 'service-mtls-' });

/** A socket that records what is written to it. */
function keeping(): { readonly socket: Socket; readonly text: () => string } {
  let text = '';
  const socket = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      text += typeof chunk === 'string' ? chunk : chunk.toString('latin1');
      done();
    },
  });
  return { socket: socket as unknown as Socket, text: () => text };
}

/** The content in a random number of pieces. */
function bodyIn(pieces: readonly string[], lengthBytes: number | null): Body {
  return {
    lengthBytes,
    flow: (taker) => {
      for (const piece of pieces) {
        taker.take(Buffer.from(piece, 'latin1'));
        taker.rest();
      }
      taker.end([]);
    },
    resume: () => undefined,
  };
}

function cut(text: string, random: () => number): string[] {
  const cuts = cutsOf(text.length, random);
  return [...cuts, text.length]
    .map((to, index) => text.slice(cuts[index - 1] ?? 0, to))
    .filter((one) => one !== '');
}

/** The failure message shows the written bytes. */
function same(found: unknown, expected: unknown, shown: string): void {
  if (found !== expected) expect.fail(`${String(found)}, not ${String(expected)}: ${shown}`);
}

const NOBODY: ForwardTaker = {
  interim: () => undefined,
  answered: () => undefined,
  switched: () => undefined,
  failed: (_failure, detail) => expect.fail(detail),
};

/** The bytes that an upstream receives; null for a head that the engine does not forward. */
function toUpstream(message: ReadMessage, random: () => number): { text: string; isChunked: boolean } | null {
  const [method = '', target = ''] = message.line.split(' ');
  const version = message.version === '1.0' ? '1.0' : '1.1';
  const head = readRequestHead({ method, target, version, scheme: 'http', headers: message.fields });
  if ('refused' in head) return null;
  const { socket, text } = keeping();
  const connection = {
    output: new WriteBuffer(socket, { flushed: () => undefined }),
    uses: 0,
    begin: () => undefined,
    expect: () => undefined,
  };
  const pool = { take: () => connection } as unknown as Pool;
  const isChunked = message.fields.some((name, at) => at % 2 === 0 && /^transfer-encoding$/i.test(name));
  const request = {
    endpoint: { kind: 'static', id: 'app', host: 'app', port: 80, tls: false },
    method,
    target: formatTarget(head.path, head.query),
    headers: forward(head.headers, head.authority, 'http', '127.0.0.1'),
    body: null,
    upgrade: null,
  } as const;
  const body = bodyIn(cut(message.body, random), isChunked ? null : message.body.length);
  const options = { expectsContinue: false, takesTrailers: random() < 0.5 };
  new Http1UpstreamRequest(pool, request, body, options, NOBODY, { headMs: 0, continueMs: 0 }).start();
  tickBatch.end();
  return { text: text(), isChunked };
}

test('no request is sent to an upstream in a form that could be read as another', () => {
  const random = seeded(3);
  let written = 0;
  for (let index = 0; index < COUNT; index++) {
    const { messages } = readRequests({ bytes: mutated('request', random), cuts: [] });
    for (const message of messages.filter(({ whole }) => whole)) {
      const out = toUpstream(message, random);
      if (out === null) continue;
      written++;
      const { text, isChunked } = out;
      const shown = JSON.stringify(text);
      const strict = readRequest(text, 0);
      same(strict?.end, text.length, shown);
      same(strict!.message.body === message.body, true, shown);
      same(strict!.message.framing === 'chunked', isChunked, shown);
      const other = llhttpReads({ bytes: Buffer.from(text, 'latin1'), cuts: [] }, 'request');
      same(other.problem, null, shown);
      same(other.messages.length, 1, shown);
      same(other.messages[0]!.body === message.body, true, shown);
    }
  }
  expect(written).toBeGreaterThan(COUNT / 8);
}, 600_000);

test('no response is sent to a client in a form that could be read as another', () => {
  const random = seeded(4);
  let written = 0;
  for (let index = 0; index < COUNT / 2; index++) {
    const { messages } = readResponses({ bytes: mutated('response', random), cuts: [] });
    for (const message of messages.filter(({ whole, line }) => whole && Number(line) >= 200)) {
      const status = Number(message.line);
      const { socket, text } = keeping();
      const isHead = random() < 0.1;
      const content = !isHead && status !== 204 && status !== 304;
      const isLast = random() < 0.3;
      const parts = {
        socket,
        output: new WriteBuffer(socket, { flushed: () => undefined }),
        writeIdleMs: 0,
        isLast: () => isLast,
        takeOver: () => null,
        nowMs: Date.now,
      };
      const sink = new Http1Sink(parts, isHead ? 'HEAD' : 'GET', '1.1', random() < 0.5);
      const isChunked = content && random() < 0.5;
      const lengthBytes = isChunked || status === 204 ? null : message.body.length;
      sink.head(status, forwardedResponse(message.fields, 'service-error-code'), { lengthBytes, content });
      for (const piece of content ? cut(message.body, random) : []) {
        sink.take(Buffer.from(piece, 'latin1'));
        if (random() < 0.5) sink.rest();
      }
      sink.end(random() < 0.5 ? [] : ['x-trailer', '1'], () => undefined);
      tickBatch.end();
      written++;
      const shown = JSON.stringify(text());
      const strict = readResponse(text(), 0, isHead, true);
      same(strict?.end, text().length, shown);
      if (content) same(strict!.message.body === message.body, true, shown);
    }
  }
  expect(written).toBeGreaterThan(COUNT / 16);
}, 600_000);
