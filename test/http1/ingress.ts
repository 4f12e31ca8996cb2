import { createUpstreamClient, type UpstreamLimits } from '../../src/http1/upstream_client.ts';
import { createHttp1Listener, type Http1Listener } from '../../src/server/http1_listener.ts';
import type { ListenerLimits } from '../../src/io/listener_limits.ts';
import { type Script, testExchangePort, type Trace } from './test_exchange_port.ts';

export interface Ingress {
  readonly port: number;
  readonly listener: Http1Listener;
  readonly traces: Trace[];
  /** Settles when this many requests are complete. */
  readonly arrived: (count: number) => Promise<void>;
  close(deadlineMs?: number): Promise<{ readonly cut: number }>;
}

/** A listener and an upstream client around a scripted engine, on a free port. */
export async function ingress(
  script: Script,
  limits: Partial<ListenerLimits> = {},
  upstreamLimits: Partial<UpstreamLimits> = {},
): Promise<Ingress> {
  const { exchanges, traces, arrived } = testExchangePort(script);
  const upstream = createUpstreamClient(upstreamLimits);
  const listener = createHttp1Listener(exchanges, { upstream }, limits);
  const bound = await listener.listen({ port: 0 });
  if ('problem' in bound) throw new Error(bound.problem);
  return {
    port: bound.port,
    listener,
    traces,
    arrived,
    async close(deadlineMs = 0) {
      const closed = await listener.close(deadlineMs);
      await upstream.close();
      return closed;
    },
  };
}
