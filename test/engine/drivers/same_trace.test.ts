import { formatTarget } from '../../../src/http/target.ts';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUpstreamClient } from '../../../src/http1/upstream_client.ts';
import { type Edge, createEdge } from '../../../src/edgeproof.ts';
import { refuseExchange } from '../../../src/edge/begin_exchange.ts';
import type { Exchange } from '../../../src/engine/exchange.ts';
import { DEFAULT_CLIENT_IP, type RequestLike, headOf } from '../../../src/engine/request_like.ts';
import { type Step, traceOf } from '../../../src/engine/trace.ts';
import { firstValue } from '../../../src/http/fields.ts';
import { MODULES } from '../../../src/filters/modules.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { createHttp1Listener } from '../../../src/server/http1_listener.ts';
import { engineExchangePort } from '../../../src/engine/drivers/engine_exchange_port.ts';
import type { Case, Exchanged } from '../../filters/modules/case.ts';
import { CASES } from '../../filters/modules/cases.ts';
import { OF_EDGE, configAround } from '../../filters/modules/edge_around.ts';
import { type LiveUpstream, deadAddress, liveUpstream } from './scripted_upstream.ts';

/** A client cannot choose its address on loopback: the test's client sends it in a header, which the edge trusts. */
const CLIENT_FIELD = 'x-test-client';
const HEAD_MS = 300;

/** A close frame of a WebSocket, masked as a client's (RFC 6455 §5.5.1). */
const LAST_FRAME = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]);

let upstream: LiveUpstream;
let dead: string;

beforeAll(async () => {
  upstream = await liveUpstream();
  dead = await deadAddress();
});
afterAll(() => upstream.close());

/** Serves the edge on a real socket and reports every complete exchange. */
async function serve(edge: Edge) {
  const waiting: ((exchange: Exchange) => void)[] = [];
  const exchanges = engineExchangePort({
    nowMs: () => edge.runtime.world.nowMs(),
    branding: () => edge.runtime.current().branding,
    begin: (connection, head) => {
      const client = parseAddress(firstValue(head.headers, CLIENT_FIELD) ?? DEFAULT_CLIENT_IP)!;
      return edge.runtime.begin({ ...connection, client }, head);
    },
    refuse: (connection, head, reason) =>
      refuseExchange(edge.runtime.current(), connection, head, edge.runtime.world, reason),
    finished: (exchange) => waiting.shift()?.(exchange),
  });
  const client = createUpstreamClient({ headMs: HEAD_MS });
  const listener = createHttp1Listener(exchanges, { upstream: client });
  const bound = await listener.listen({ port: 0 });
  if ('problem' in bound) throw new Error(bound.problem);
  return {
    port: bound.port,
    nextExchange: () => new Promise<Exchange>((resolve) => waiting.push(resolve)),
    close: async () => {
      await listener.close(0);
      await client.close();
    },
  };
}

function wireBytes(request: RequestLike, clientIp: string | undefined): string {
  const head = headOf(request);
  if ('refused' in head) throw new Error(head.message);
  const lines = [`${head.method} ${formatTarget(head.path, head.query)} HTTP/1.1`];
  for (let at = 0; at < head.headers.length; at += 2)
    lines.push(`${head.headers[at]}: ${head.headers[at + 1]}`);
  if (clientIp !== undefined) lines.push(`${CLIENT_FIELD}: ${clientIp}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

async function runLive(each: Case, type: string): Promise<Step[][]> {
  let nowMs = 1_800_000_000_000;
  let random = 0;
  const traces: Step[][] = [];
  // A failing dial needs an address of its own; everything else is scripted in the upstream.
  const usesDead = each.exchanges.some((exchanged) => failureOf(exchanged) === 'connect');
  const config = (app: string) => configAround(type, each.config, { app, next: upstream.address });
  const edge = createEdge(config(upstream.address), { clock: () => nowMs, random: () => random });
  const server = await serve(edge);
  try {
    for (const exchanged of each.exchanges) {
      nowMs += exchanged.afterMs ?? 0;
      random = exchanged.random ?? 0;
      if (usesDead) edge.swap(config(failureOf(exchanged) === 'connect' ? dead : upstream.address));
      upstream.answer = exchanged.upstream ?? { head: { status: 200, headers: [] }, reused: false };
      const complete = server.nextExchange();
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      upstream.onSilence = () => {
        if (failureOf(exchanged) === 'cancelled') socket.destroy();
      };
      await once(socket, 'connect');
      socket.write(wireBytes({ url: 'http://shop.test/', ...exchanged.request }, exchanged.clientIp));
      // A tunnel is complete after the last bytes of its client.
      socket.on('data', (bytes) => {
        if (bytes.toString('latin1').startsWith('HTTP/1.1 101')) socket.end(LAST_FRAME);
      });
      traces.push(traceOf(await complete));
      socket.destroy();
    }
  } finally {
    await server.close();
  }
  return traces;
}

function failureOf(exchanged: Exchanged): string | null {
  return exchanged.upstream !== undefined && 'failure' in exchanged.upstream
    ? exchanged.upstream.failure
    : null;
}

function runSimulated(each: Case, type: string): Step[][] {
  let nowMs = 1_800_000_000_000;
  let random = 0;
  const edge = createEdge(configAround(type, each.config, { app: '127.0.0.1:1', next: '127.0.0.1:2' }), {
    clock: () => nowMs,
    random: () => random,
  });
  return each.exchanges.map((exchanged) => {
    nowMs += exchanged.afterMs ?? 0;
    random = exchanged.random ?? 0;
    const facts = exchanged.clientIp === undefined ? {} : { clientIp: exchanged.clientIp };
    return [
      ...edge.decide({ url: 'http://shop.test/', ...exchanged.request }, facts, exchanged.upstream).trace,
    ];
  });
}

/** Messages of failures depend on the system. */
function withoutDetails(traces: readonly Step[][]): Step[][] {
  return traces.map((steps) =>
    steps.map((step) =>
      step.phase === 'upstream' ? { ...step, detail: { ...step.detail, detail: '' } } : step,
    ),
  );
}

describe.each(MODULES.filter(({ type }) => !OF_EDGE.has(type)).map((module) => module.type))(
  '%s: simulated and live',
  (type) => {
    it.each((CASES[type] ?? []).map((each) => [each.name, each] as const))('%s', async (_name, each) => {
      const live = await runLive(each, type);
      expect(withoutDetails(live)).toEqual(withoutDetails(runSimulated(each, type)));
      expect(live.map((steps) => steps.find((step) => step.module === type)?.code)).toEqual(
        each.exchanges.map((exchanged) => exchanged.expect.code),
      );
    });
  },
);
