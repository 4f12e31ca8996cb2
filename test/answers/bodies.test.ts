import { array, assert, asyncProperty, integer } from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { bodyOf, holdBody } from '../../src/answers/body.ts';
import { Flow } from '../../src/answers/flow.ts';
import type { Body, BodyPart } from '../../src/answers/port.ts';
import type { Answers } from '../../src/engine/contract.ts';
import { ingress, type Ingress } from '../proxy/ingress.ts';
import { answering, dial, OK, recorder, type Recorder, splitRequests } from '../proxy/sockets.ts';
import { forwarding, type Script, text } from '../proxy/test_plane.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function upstream(...given: Parameters<typeof recorder>): Promise<Recorder> {
  const made = await recorder(...given);
  closers.push(() => made.close());
  return made;
}
async function edgeFor(...given: Parameters<typeof ingress>): Promise<Ingress> {
  const made = await ingress(...given);
  closers.push(() => made.close());
  return made;
}

/** A producer that honours pause, and hands over all that it has otherwise. */
function produce(sizes: readonly number[]): { flow: Flow; mostBytes: () => number } {
  const state = { paused: false };
  let at = 0;
  let between = 0;
  let most = 0;
  const flow = new Flow({
    pause: () => {
      state.paused = true;
    },
    resume: () => {
      state.paused = false;
      pump();
    },
    idleMs: 0,
  });
  function pump(): void {
    while (!state.paused && at < sizes.length) {
      between += sizes[at]!;
      most = Math.max(most, between);
      flow.push(new Uint8Array(sizes[at]!).fill(at++ & 0xff));
    }
    if (at === sizes.length) flow.end();
  }
  setImmediate(pump);
  const pull = flow.pull.bind(flow);
  flow.pull = async () => {
    const part = await pull();
    if (part.part === 'bytes') between -= part.bytes.length;
    return part;
  };
  return { flow, mostBytes: () => most };
}

async function drink(body: { pull(): Promise<BodyPart> }): Promise<{ bytes: Buffer; last: BodyPart }> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const part = await body.pull();
    if (part.part !== 'bytes') return { bytes: Buffer.concat(chunks), last: part };
    chunks.push(part.bytes);
  }
}

describe('a flow', () => {
  test('gives every byte once and in order, and holds no more than it may', async () => {
    await assert(
      asyncProperty(array(integer({ min: 0, max: 40_000 }), { maxLength: 40 }), async (sizes) => {
        const { flow, mostBytes } = produce(sizes);
        const { bytes, last } = await drink(flow);
        expect(last).toEqual({ part: 'end' });
        expect(
          bytes.equals(Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index & 0xff)))),
        ).toBe(true);
        // One chunk may be in the reader's hand, and one more than fits when the producer is paused.
        expect(mostBytes()).toBeLessThan(65_536 + 2 * 40_000);
      }),
      { numRuns: 300, seed: 11 },
    );
  });

  test('a fault overtakes no bytes, and stays', async () => {
    const flow = new Flow({ pause: () => undefined, resume: () => undefined, idleMs: 0 });
    flow.push(new Uint8Array([1]));
    flow.fail('left', 'gone');
    flow.push(new Uint8Array([2]));
    flow.end();
    const { bytes, last } = await drink(flow);
    expect([...bytes]).toEqual([1]);
    expect(last).toEqual({ part: 'fault', fault: 'left', detail: 'gone' });
    expect(await flow.pull()).toEqual(last);
    expect([flow.ended, flow.fault]).toEqual([true, 'left']);
  });

  test('a pull that nobody answers ends in time; time in which nobody pulls does not count', async () => {
    const flow = new Flow({ pause: () => undefined, resume: () => undefined, idleMs: 50 });
    await new Promise((resolve) => void setTimeout(resolve, 120));
    flow.push(new Uint8Array([1]));
    expect(await flow.pull()).toMatchObject({ part: 'bytes' });
    expect(await flow.pull()).toMatchObject({ part: 'fault', fault: 'timeout' });
  });
});

function source(chunks: readonly string[], lengthBytes: number | null): Body & { pulls: number } {
  let at = 0;
  return {
    lengthBytes,
    pulls: 0,
    pull() {
      this.pulls++;
      const chunk = chunks[at++];
      return Promise.resolve(
        chunk === undefined ? { part: 'end' } : { part: 'bytes', bytes: Buffer.from(chunk) },
      );
    },
  };
}

describe('a held body', () => {
  test('can be opened as often as one likes, with its length', async () => {
    const body = holdBody(source(['ab', 'c'], null));
    expect(await body.hold(3)).toEqual({ bytes: Buffer.from('abc') });
    for (let count = 0; count < 2; count++) {
      const opened = body.open()!;
      expect(opened.lengthBytes).toBe(3);
      expect((await drink(opened)).bytes.toString()).toBe('abc');
    }
    expect(await body.hold(2)).toEqual({ failure: 'too_large' });
  });

  test('that is too long is still whole when it is passed on, once', async () => {
    const body = holdBody(source(['ab', 'c', 'd'], null));
    expect(await body.hold(2)).toEqual({ failure: 'too_large' });
    expect((await drink(body.open()!)).bytes.toString()).toBe('abcd');
    expect(body.open()).toBe(null);
    expect(await body.hold(100)).toEqual({ failure: 'left' });
  });

  test('that declares too much is refused before a byte is read', async () => {
    const given = source(['abc'], 3);
    expect(await holdBody(given).hold(2)).toEqual({ failure: 'too_large' });
    expect(given.pulls).toBe(0);
  });

  test('that was opened and not read can be opened again: a dial that fails takes nothing', async () => {
    const body = holdBody(source(['abc'], 3));
    body.open();
    expect((await drink(body.open()!)).bytes.toString()).toBe('abc');
  });

  test('of no bytes is there at once', async () => {
    const body = holdBody(bodyOf(Buffer.alloc(0)));
    expect(await body.hold(0)).toEqual({ bytes: Buffer.alloc(0) });
    expect(body.open()!.lengthBytes).toBe(0);
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

  test('what a module has looked at reaches the upstream byte for byte', async () => {
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

  test('one that is too long is 413 by length at once, by chunks when it is', async () => {
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

  test('after a failed dial the next upstream gets all of it', async () => {
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

  test('after bytes have been sent there is no second try', async () => {
    const cutting = await upstream((one) => void (one.got().includes('12345') && one.socket.destroy()));
    const up = await upstream(answering(OK));
    const edge = await edgeFor(failover(cutting.port, up.port));
    const client = await dial(edge.port);
    client.send(chunked('12345'));
    await client.until((got) => got.includes(' 502 '));
    expect(edge.traces[0]!.forwards).toEqual([
      { failure: 'reset', detail: expect.any(String) as string },
      { failure: 'invalid', detail: 'the request body has been sent and is not held' },
    ]);
    expect(up.wires.length).toBe(0);
  });

  test('a body of the engine’s own goes in place of the client’s', async () => {
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

  test('a response body that was looked at is passed on from memory, one that was too long from both', async () => {
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

  test('a control request that nobody can make is a failure, not a hang', async () => {
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
