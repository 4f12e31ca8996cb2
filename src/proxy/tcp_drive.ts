import type { Duplex } from 'node:stream';
import { carryTcp } from '../answers/tcp_carry.ts';
import { type Dialled, dialTcp } from '../answers/tcp_dial.ts';
import type { Answers, FetchRequest } from '../engine/contract.ts';
import {
  type StreamAnswer,
  type StreamExchange,
  type StreamQuestion,
  NOTHING_CARRIED,
  answerStream,
  failStream,
  startStream,
} from '../engine/stream.ts';
import { proxyHeader } from './proxy_protocol.ts';
import type { StreamLimits } from './tcp_limits.ts';

/** What the driver of connections needs besides the engine. */
export interface StreamHands {
  readonly limits: StreamLimits;
  readonly fetch: (request: FetchRequest, gone: AbortSignal) => Promise<Answers['fetch']>;
  /** Cuts what is still carried when the edge stops. */
  readonly drain: AbortSignal;
  /** Authorities for TLS backends, PEM; the system's when left out. */
  readonly ca?: string;
}

/**
 * Drives one connection from its beginning to its last byte. Settles when it is over; never rejects, and leaves
 * nothing open. The client's stream is not read before a backend has taken the connection; `close` is how it is
 * closed when none does.
 */
export async function driveStream(
  client: Duplex,
  exchange: StreamExchange,
  hands: StreamHands,
  close: (client: Duplex) => Promise<void> | void = (stream) => void stream.destroy(),
): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  client.on('error', () => undefined).once('close', leave);
  const run: Run = { client, exchange, hands, gone: gone.signal, close, backend: null };
  let question = startStream(exchange);
  while (question !== null) {
    let given: StreamAnswer;
    try {
      given = await answerTo(question, run);
    } catch (error) {
      question = failStream(exchange, error);
      continue;
    }
    question = answerStream(exchange, given);
  }
  client.off('close', leave);
  client.destroy();
  run.backend?.destroy();
}

interface Run {
  readonly client: Duplex;
  readonly exchange: StreamExchange;
  readonly hands: StreamHands;
  readonly gone: AbortSignal;
  readonly close: (client: Duplex) => Promise<void> | void;
  backend: Duplex | null;
}

async function answerTo(question: StreamQuestion, run: Run): Promise<StreamAnswer> {
  const { client, hands, exchange } = run;
  switch (question.ask) {
    case 'fetch':
      return hands.fetch(question.request, run.gone);
    case 'dial': {
      const { proxyProtocol } = question.leaf;
      const preface = proxyProtocol === undefined ? null : proxyHeader(proxyProtocol, exchange.connection);
      const { dialMs } = hands.limits;
      const options = { dialMs, ...(hands.ca !== undefined && { ca: hands.ca }) };
      const dialled: Dialled = await dialTcp(question.leaf, preface, options);
      if ('failure' in dialled) return dialled;
      run.backend = dialled.stream;
      return { connected: true };
    }
    case 'carry': {
      const { limits, drain } = hands;
      return carryTcp(client, run.backend!, { idleMs: limits.idleMs, drain });
    }
    case 'close':
      await run.close(client);
      return NOTHING_CARRIED;
  }
}
