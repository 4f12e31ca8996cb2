import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { SimulatedAgents } from '../simulator/agents.ts';

/** What the command line says about a request; absent values are assumed. */
interface Said {
  readonly ip?: string;
  readonly header: readonly string[];
  /** Whether the status of the upstream was given. */
  readonly hasStatus: boolean;
  readonly upstreamStatus: number;
}

/**
 * What the command line did not say, and the decision may depend on, with the values that were taken; with `all` also
 * what it rarely depends on.
 */
export function assumptions(
  { attempts, connection, head, startMs, ended }: Exchange,
  said: Said,
  config: EdgeConfig,
  agents: SimulatedAgents | null,
  all: boolean,
): string {
  const asksAgents = Object.values(config.backends).some((backend) => backend.tunnel_group !== undefined);
  const assumed = [
    ...(said.ip === undefined ? [`client address ${connection.client.text} (--ip)`] : []),
    ...(said.header.length === 0 ? ['no header but Host (-H)'] : []),
    ...(!said.hasStatus && attempts.length > 0
      ? [`the upstream answers ${said.upstreamStatus} (--upstream-status)`]
      : []),
    ...(asksAgents && agents === null && ended?.code === 'backend.offline'
      ? ['no agent is online (--agent)']
      : []),
    ...(all
      ? [`the time ${new Date(startMs).toISOString()}`, 'no body', 'all limits and breakers as at the start']
      : []),
    ...(all && head.scheme === 'https' ? ['TLS 1.3 without a client certificate'] : []),
  ];
  return assumed.length === 0 ? '' : `assumed: ${assumed.join('; ')}\n`;
}
