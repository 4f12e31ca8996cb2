import { describe, expect, test } from 'vitest';
import { edgeFor, upstream } from '../http1/per_test.ts';
import { bodyOf, type Buffered, BufferedBody } from '../../src/io/buffered_body.ts';
import type { Body, BodyTaker } from '../../src/io/ports.ts';
import type { Answers } from '../../src/engine/questions.ts';

import { heldBytes } from '../held_bytes.ts';
import { drink } from './forwarded.ts';
import { answering, dial, OK, recorder, splitRequests } from '../http1/sockets.ts';
import { forwarding, type Script, text } from '../http1/test_exchange_port.ts';

/** A source that pauses after each chunk, and counts how often it resumed. */
function source(chunks: readonly string[], lengthBytes: number | null): Body & { given: number } {
  let at = 0;
  let taker: BodyTaker | null = null;
  const goOn = (): void => {
    while (at < chunks.length) {
      made.given++;
      // Lent buffers: what is kept beyond the call without a copy is overwritten.
      const lent = Buffer.from(chunks[at++]!);
      taker!.take(lent);
      const rested = taker!.rest();
      if (rested) lent.fill(0);
      if (!rested) return;
    }
    if (at++ === chunks.length) taker!.end([]);
  };
  const made = {
    lengthBytes,
    given: 0,
    flow(given: BodyTaker) {
      taker = given;
      goOn();
    },
    resume: goOn,
  };
  return made;
}

const COUNT = 500_000;

const hold = (body: BufferedBody, limitBytes: number): Promise<Buffered> =>
  new Promise((resolve) => {
    body.hold(limitBytes, resolve);
  });

describe('a buffered body', () => {
  test('can be opened as often as one likes, with its length', async () => {
    const body = new BufferedBody(source(['ab', 'c'], null));
    expect(await hold(body, 3)).toEqual({ bytes: Buffer.from('abc') });
    for (let count = 0; count < 2; count++) {
      const opened = body.open()!;
      expect(opened.lengthBytes).toBe(3);
      expect((await drink(opened)).bytes.toString()).toBe('abc');
    }
    expect(await hold(body, 2)).toEqual({ failure: 'too_large' });
  });

  test('in many small pieces takes no more memory than its bytes', () => {
    const waiting: BodyTaker[] = [];
    const body = new BufferedBody({
      lengthBytes: null,
      flow: (taker) => void waiting.push(taker),
      resume: () => undefined,
    });
    body.hold(COUNT, () => undefined);
    const before = heldBytes();
    for (let count = 0; count < COUNT; count++) {
      waiting[0]!.take(Buffer.from('a'));
      waiting[0]!.rest();
    }
    expect(heldBytes() - before).toBeLessThan(4 * COUNT);
  });

  test('that is too long is still complete when it is passed on, once', async () => {
    const given = source(['ab', 'c', 'd'], null);
    const body = new BufferedBody(given);
    expect(await hold(body, 2)).toEqual({ failure: 'too_large' });
    expect(given.given).toBe(2); // no more than necessary
    expect((await drink(body.open()!)).bytes.toString()).toBe('abcd');
    expect(body.open()).toBe(null);
    expect(await hold(body, 100)).toEqual({ failure: 'left' });
  });

  test('can flow from inside the callback about it', async () => {
    const body = new BufferedBody(source(['ab', 'c', 'd'], null));
    const whole = await new Promise<string>((resolve) => {
      body.hold(2, () => void drink(body.open()!).then(({ bytes }) => resolve(bytes.toString())));
    });
    expect(whole).toBe('abcd');
  });

  test('that declares too much is refused before a byte is read', async () => {
    const given = source(['abc'], 3);
    expect(await hold(new BufferedBody(given), 2)).toEqual({ failure: 'too_large' });
    expect(given.given).toBe(0);
  });

  test('that was opened and not read can be opened again: a failed connection consumes nothing', async () => {
    const body = new BufferedBody(source(['abc'], 3));
    body.open();
    expect((await drink(body.open()!)).bytes.toString()).toBe('abc');
  });

  test('without bytes is available at once', async () => {
    const body = new BufferedBody(bodyOf(Buffer.alloc(0)));
    expect(await hold(body, 0)).toEqual({ bytes: Buffer.alloc(0) });
    expect(body.open()!.lengthBytes).toBe(0);
  });

  test('that breaks off reports it to its holder and to its taker', async () => {
    const broken: Body = {
      lengthBytes: null,
      flow: (taker) => {
        taker.take(Buffer.from('ab'));
        taker.fail('left', 'gone');
      },
      resume: () => undefined,
    };
    const body = new BufferedBody(broken);
    expect(await hold(body, 9)).toEqual({ failure: 'left' });
    expect(await drink(body.open()!)).toMatchObject({
      bytes: Buffer.from('ab'),
      last: { fault: 'left', detail: 'gone' },
    });
  });
});

/** Tries one port after the other, as failover does when a dial fails. */
function failover(...ports: readonly number[]): Script {
  return function* walk(head, trace) {
    for (const port of ports) {
      const steps = forwarding(port)(head, trace);
      let step = steps.next();
      let answer = null;
      while (step.done !== true && step.value.ask === 'forward') {
        answer = yield step.value;
        step = steps.next(answer);
      }
      if (step.done === true || (answer !== null && 'failure' in answer && port !== ports.at(-1))) continue;
      yield step.value;
      return;
    }
  };
}

describe('bodies on their way through the driver', () => {
  const POST = 'POST / HTTP/1.1\r\nHost: a\r\n';
  const chunked = (content: string): string =>
    `${POST}Transfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`;

  test('a body that a module has read reaches the upstream byte for byte', async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(forwarding(up.port, { holdBytes: 10 }));
    for (const request of [
      `${POST}Content-Length: 5\r\n\r\n\0\xff\r\n!`,
      chunked('\0\xff\r\n!'),
      `${POST}\r\n`,
    ]) {
      const client = await dial(edge.port);
      client.send(request);
      await client.until((got) => got.endsWith('ok'));
      client.socket.destroy();
    }
    expect(up.wires.flatMap((one) => splitRequests(one.got()).requests.map((read) => read.body))).toEqual([
      '\0\xff\r\n!',
      '\0\xff\r\n!',
      '',
    ]);
    expect(edge.traces.map((trace) => trace.bodies)).toMatchObject([
      [{ bytes: { length: 5 } }],
      [{ bytes: { length: 5 } }],
      [{ bytes: { length: 0 } }],
    ]);
  });

  test('one that is too long gets 413: at once with a length, later with chunks', async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(forwarding(up.port, { holdBytes: 4 }));
    for (const request of [`${POST}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`, chunked('12345')]) {
      const client = await dial(edge.port);
      client.send(request);
      const got = await client.until((seen) => seen.includes('too_large'));
      expect(got).toMatch(/^HTTP\/1\.1 413 /);
    }
    expect(up.wires.length).toBe(0);
  });

  test('after a failed connection the next upstream gets all of it', async () => {
    const closed = await recorder();
    await closed.close();
    const up = await upstream(answering(OK));
    const edge = await edgeFor(failover(closed.port, up.port));
    const client = await dial(edge.port);
    client.send(chunked('12345'));
    await client.until((got) => got.endsWith('ok'));
    expect(splitRequests(up.all()).requests.map((read) => read.body)).toEqual(['12345']);
    expect(edge.traces[0]!.forwards).toMatchObject([{ failure: 'connect' }, { reused: false }]);
  });

  test('after bytes have been sent there is no retry', async () => {
    const cutting = await upstream((one) => void (one.got().includes('12345') && one.socket.destroy()));
    const up = await upstream(answering(OK));
    const edge = await edgeFor(failover(cutting.port, up.port));
    const client = await dial(edge.port);
    client.send(chunked('12345'));
    await client.until((got) => got.includes(' 502 '));
    expect(edge.traces[0]!.forwards).toEqual([
      { failure: 'reset', detail: expect.any(String) as string },
      { failure: 'invalid', detail: 'the request body was sent and is no longer buffered' },
    ]);
    expect(up.wires.length).toBe(0);
  });

  test('a body of the engine replaces the client’s', async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(function* walk(head, trace) {
      const steps = forwarding(up.port)(head, trace);
      let step = steps.next();
      while (step.done !== true) {
        const question = step.value;
        const asked =
          question.ask === 'forward'
            ? { ...question, request: { ...question.request, body: Buffer.from('mine') } }
            : question;
        step = steps.next(yield asked);
      }
    });
    const client = await dial(edge.port);
    client.send(chunked('12345'));
    await client.until((got) => got.endsWith('ok'));
    expect(splitRequests(up.all()).requests[0]).toMatchObject({
      body: 'mine',
      head: expect.stringContaining('content-length: 4\r\n') as string,
    });
  });

  test('a response body that was read is passed on from memory, one that was too long from memory and the stream', async () => {
    const up = await upstream(
      answering('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n'),
    );
    const seen: Answers['response_body'][] = [];
    const edge = await edgeFor(function* walk(head, trace) {
      const steps = forwarding(up.port)(head, trace);
      let step = steps.next();
      while (step.done !== true) {
        const question = step.value;
        if (question.ask === 'reply') {
          const limitBytes = head.path === '/short' ? 3 : 100;
          seen.push((yield { ask: 'response_body', limitBytes }) as Answers['response_body']);
        }
        step = steps.next(yield question);
      }
    });
    for (const path of ['/long', '/short']) {
      const client = await dial(edge.port);
      client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      const got = await client.until((text_) => /abcdef$|0\r\n\r\n$/.test(text_));
      const undone = splitRequests(`X / HTTP/1.1${got.slice(got.indexOf('\r\n'))}`).requests[0]!.body;
      expect(undone).toBe('abcdef');
      await edge.arrived(edge.traces.length);
    }
    expect(seen).toMatchObject([{ bytes: { length: 6 } }, { failure: 'too_large' }]);
    expect(edge.traces.map((trace) => trace.sent)).toMatchObject([
      { responseBytes: 6, cut: 'none' },
      { responseBytes: 6, cut: 'none' },
    ]);
  });

  test('a control request without a client is a failure, not a hang', async () => {
    let answer: unknown = null;
    const edge = await edgeFor(function* walk() {
      const request = {
        method: 'GET',
        url: 'http://a/',
        headers: [],
        body: null,
        timeoutMs: 1,
        limitBytes: 1,
        maxRedirects: 0,
        allowPrivate: true,
      };
      answer = yield { ask: 'fetch', request };
      yield { ask: 'reply', reply: text(200, 'ok') };
    });
    const client = await dial(edge.port);
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((got) => got.endsWith('ok'));
    expect(answer).toMatchObject({ failure: 'connect' });
  });
});
