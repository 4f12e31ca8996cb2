import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import type { ClientStep, ExpectedReply, ExchangeCase } from './case.ts';
import { PROOF_TARGET, type RecordingUpstream } from './recording_upstream.ts';
import { type Send, settledSocket } from './sending.ts';
import { type StrictMessage, Violation, readResponse } from './strict_http.ts';

/** What a client received in a case. */
export interface Played {
  /** Whole replies, in order. */
  readonly replies: readonly StrictMessage[];
  /** The bytes after them. */
  readonly rest: string;
  /** Why no more could be read, or null. */
  readonly violation: string | null;
  /** Whether the proxy closed the connection. */
  readonly closed: boolean;
  /** Whether one more request on the connection was answered; null if none was sent. */
  readonly proved: boolean | null;
  /** The first wait of the client that timed out. */
  readonly inVain: string | null;
}

interface Client {
  readonly socket: Socket;
  text: string;
  over: boolean;
  /** Settles when the condition is true, the connection has ended or time is up; with whether it is true. */
  until(holds: () => boolean, withinMs: number): Promise<boolean>;
}

const PROOF = `GET ${PROOF_TARGET} HTTP/1.1\r\nHost: a.test\r\n\r\n`;

/** Plays the client of a case against a proxy on a port of this machine. */
export async function play(
  one: ExchangeCase,
  port: number,
  upstream: RecordingUpstream | null,
  send: Send,
  withinMs: number,
): Promise<Played> {
  const client = await dial(port, upstream);
  const steps = typeof one.client === 'string' ? [one.client] : one.client;
  let inVain: string | null = null;
  let left = false;
  for (const step of steps) {
    const problem = await take(step, client, upstream, send, withinMs);
    inVain ??= problem;
    left ||= typeof step === 'object' && 'leave' in step && step.leave !== 'half';
  }
  const tunnel = one.tunnelBack ?? '';
  const enough = (): boolean => {
    const { index, rest } = parse(one.gets, client.text, client.over);
    return index >= one.gets.length && rest.length >= tunnel.length;
  };
  if (!left) await client.until(enough, withinMs);
  if (one.after === 'closed' || one.gets.some(({ cut }) => cut === true)) {
    await client.until(() => client.over, withinMs);
  }
  const read = parse(one.gets, client.text, client.over);
  const proved = one.after === 'open' ? await prove(client, send, withinMs) : null;
  const closed = client.over;
  client.socket.destroy();
  return { replies: read.replies, rest: read.rest, violation: read.violation, closed, proved, inVain };
}

async function dial(port: number, upstream: RecordingUpstream | null): Promise<Client> {
  const socket = settledSocket(connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  const client: Client = {
    socket,
    text: '',
    over: false,
    until: (holds, withinMs) =>
      new Promise((resolve) => {
        const finish = (): void => {
          watchers.delete(look);
          clearTimeout(timer);
          resolve(holds());
        };
        const look = (): void => {
          if (client.over || holds()) finish();
        };
        const timer = setTimeout(finish, withinMs);
        watchers.add(look);
        look();
      }),
  };
  socket.on('data', (bytes: Buffer) => {
    client.text += bytes.toString('latin1');
    upstream?.clientGot(client.text);
    notify();
  });
  for (const event of ['end', 'close'] as const) {
    socket.on(event, () => {
      client.over = true;
      notify();
    });
  }
  await once(socket, 'connect');
  return client;
}

async function take(
  step: ClientStep,
  client: Client,
  upstream: RecordingUpstream | null,
  send: Send,
  withinMs: number,
): Promise<string | null> {
  const { socket } = client;
  if (typeof step === 'string') {
    await send(socket, step);
    return null;
  }
  if ('got' in step) {
    return (await client.until(() => client.text.includes(step.got), withinMs)) ? null : step.got;
  }
  if ('upstreamGot' in step) {
    for (const end = Date.now() + withinMs; Date.now() < end && !client.over;) {
      if (upstream?.got().includes(step.upstreamGot) === true) return null;
      await new Promise((resolve) => void setTimeout(resolve, 2));
    }
    return step.upstreamGot;
  }
  if (step.leave === 'half') socket.end();
  else if (step.leave === 'close') socket.destroy();
  else socket.resetAndDestroy();
  return null;
}

/** Parses as many replies as possible; an optional one may be missing. */
function parse(
  expected: readonly ExpectedReply[],
  text: string,
  over: boolean,
): { replies: StrictMessage[]; rest: string; violation: string | null; index: number } {
  const replies: StrictMessage[] = [];
  let at = 0;
  let index = 0;
  let violation: string | null = null;
  try {
    while (at < text.length && index < expected.length) {
      const next = readResponse(text, at, expected[index]!.toHead === true, over);
      if (next === null) break;
      const status = Number(next.message.line.slice(9, 12));
      while (expected[index]?.optional === true && expected[index]!.status !== status) index++;
      replies.push(next.message);
      at = next.end;
      if (expected[index]?.optional !== true) index++;
    }
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    violation = error.message;
  }
  while (expected[index]?.optional === true && index === expected.length - 1) index++;
  return { replies, rest: text.slice(at), violation, index };
}

/** One more request on the same connection detects bytes that were left unread or read too far. */
async function prove(client: Client, send: Send, withinMs: number): Promise<boolean> {
  const before = client.text.length;
  await send(client.socket, PROOF);
  return client.until(() => {
    try {
      return readResponse(client.text, before, false, false)?.message.body === 'ok';
    } catch {
      return false;
    }
  }, withinMs);
}
