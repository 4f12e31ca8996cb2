import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { forwardTcp } from '../io/tcp_forward.ts';
import type { OpenTunnel } from '../io/dial.ts';
import { dialTcp } from '../io/tcp_dial.ts';
import { dialWaiting } from '../io/waiting.ts';
import type { FetchRequest } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import type { StreamAnswer, StreamQuestion } from '../engine/stream.ts';
import { type StreamExchange, NOTHING_RELAYED } from '../engine/stream_exchange.ts';
import { STREAM_ENGINE, converseLater } from '../engine/drivers/converse.ts';
import { reportFault } from '../io/containment.ts';
import { proxyHeader } from './proxy_protocol.ts';
import type { StreamLimits } from './tcp_limits.ts';

/** What the driver of connections needs besides the engine. */
export interface StreamClients {
  readonly limits: StreamLimits;
  readonly fetch: (request: FetchRequest, gone: AbortSignal) => Promise<Answers['fetch']>;
  /** Closes open connections when the edge stops. */
  readonly drain: AbortSignal;
  /** Authorities for TLS backends, PEM; default: the system's. */
  readonly ca?: string;
  /** Called with the backend of each connection that begins to wait for it. */
  readonly waits?: ((backend: string) => void) | undefined;
  /** Opens connections through agents; null where there are none. */
  readonly openTunnel: OpenTunnel | null;
  /** Resolves names of backends. */
  readonly lookup: LookupFunction;
}

/**
 * Drives one connection from its start to its last byte. Resolves when it has ended; never rejects, and
 * leaves nothing open. The client's stream is not read before a backend has accepted the connection; `close`
 * closes it when no backend does.
 */
export async function driveStream(
  client: Duplex,
  exchange: StreamExchange,
  clients: StreamClients,
  close: (client: Duplex) => Promise<void> | void = (stream) => void stream.destroy(),
): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  client.on('error', () => undefined).once('close', leave);
  const run: Run = { client, exchange, clients, gone: gone.signal, close, backend: null };
  await converseLater(STREAM_ENGINE, exchange, (question) => answerTo(question, run)).catch(reportFault);
  client.off('close', leave);
  client.destroy();
  run.backend?.destroy();
}

interface Run {
  readonly client: Duplex;
  readonly exchange: StreamExchange;
  readonly clients: StreamClients;
  readonly gone: AbortSignal;
  readonly close: (client: Duplex) => Promise<void> | void;
  backend: Duplex | null;
}

async function answerTo(question: StreamQuestion, run: Run): Promise<StreamAnswer> {
  const { client, clients, exchange } = run;
  switch (question.ask) {
    case 'fetch':
      return clients.fetch(question.request, run.gone);
    case 'dial': {
      const { proxyProtocol } = question.endpoint;
      const preface = proxyProtocol === undefined ? null : proxyHeader(proxyProtocol, exchange.connection);
      const { dialMs } = clients.limits;
      const waitMs = question.hasNext ? 0 : clients.limits.waitMs;
      const { openTunnel, lookup } = clients;
      const options = { dialMs, openTunnel, lookup, ...(clients.ca !== undefined && { ca: clients.ca }) };
      const asked = { kind: question.kind, connection: exchange.connection, preface };
      const begins = (): void => clients.waits?.(question.endpoint.id);
      const waiting = { waitMs, stops: [run.gone, clients.drain], begins };
      const dialled = await dialWaiting(() => dialTcp(question.endpoint, asked, options), waiting);
      if ('failure' in dialled) return dialled;
      run.backend = dialled.stream;
      return { connected: true };
    }
    case 'relay': {
      const { limits, drain } = clients;
      return forwardTcp(client, run.backend!, { idleMs: limits.idleMs, drain });
    }
    case 'close':
      await run.close(client);
      return NOTHING_RELAYED;
  }
}
