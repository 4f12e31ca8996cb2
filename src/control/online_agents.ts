import { isInternalHost } from '../edge/document/internal_hosts.ts';
import { wholeSeconds } from '../events/timestamps.ts';
import type { Agents } from '../tunnel/agents.ts';
import type { OnlineSession } from '../tunnel/online_sessions.ts';
import type { Tunnel } from '../tunnel/online_tunnels.ts';
import type { BoundEndpoint } from '../tunnel/binding/endpoint_table.ts';
import type { AgentCommand, Online } from './api/contract.ts';
import { REGION } from './resources/agent_ingresses.ts';
import { refTo } from './resources/present.ts';

/** Sessions, tunnels and endpoints of connected agents, in the form of responses (specification, TunnelSession). */

/** Numbers of failed commands: one that is not supported, one that the agent refused. */
const NUMBERS: Readonly<Record<AgentCommand, { readonly unsupported: number; readonly failed: number }>> = {
  restart: { unsupported: 804, failed: 807 },
  stop: { unsupported: 805, failed: 808 },
  update: { unsupported: 806, failed: 809 },
};
const UNREACHABLE = 810;

function ref(id: string | null | undefined, base: string) {
  return id === null || id === undefined ? null : refTo(id, base);
}

export function onlineAgents(agents: Agents, service: string): Online {
  return {
    list: (kind, base) => {
      const shown = {
        tunnel_session: () => agents.sessions().map((each) => shownSession(each, service, base)),
        tunnel: () => agents.tunnels.all().map((each) => shownTunnel(each, agents, base)),
        endpoint: () => agents.endpoints.all().map((each) => shownEndpoint(each, agents, base)),
      }[kind]();
      // Ids are sortable by time.
      return shown.sort((one, other) => (one.id < other.id ? 1 : -1));
    },
    command: async (id, command) => {
      const failure = await agents.command(id, command);
      if (failure === null) return null;
      const { kind, message } = failure;
      if (kind === 'unreachable')
        return { number: UNREACHABLE, message: `The agent cannot be reached: ${message}` };
      const what = kind === 'unsupported' ? 'does not support' : 'refused';
      return {
        number: NUMBERS[command][kind],
        message: `The agent ${what} the command ${command}: ${message}`,
      };
    },
  };
}

function shownSession(
  { id, session, facts, admitted, startedMs }: OnlineSession,
  service: string,
  base: string,
) {
  return {
    id,
    agent_version: facts.version,
    credential: ref(admitted.credential, base),
    ip: session.address,
    metadata: facts.metadata,
    os: facts.os,
    region: REGION,
    started_at: wholeSeconds(startedMs),
    transport: `${service}/v2`,
  };
}

function shownTunnel(tunnel: Tunnel, agents: Agents, base: string) {
  return {
    id: tunnel.id,
    public_url: agents.endpoints.get(tunnel.endpointId ?? '')?.url ?? '',
    started_at: wholeSeconds(tunnel.startedMs),
    metadata: tunnel.metadata,
    proto: tunnel.proto ?? '',
    region: REGION,
    tunnel_session: ref(agents.sessionOf(tunnel.session)?.id, base),
    endpoint: ref(tunnel.endpointId, base),
    labels: tunnel.labels ?? {},
    backends: agents.endpoints.backendsFor(tunnel.labels).map((id) => ref(id, base)),
    forwards_to: tunnel.forwardsTo,
  };
}

function shownEndpoint(endpoint: BoundEndpoint, agents: Agents, base: string) {
  const tunnel = agents.tunnels.firstOf(endpoint.id);
  const at = wholeSeconds(endpoint.createdMs);
  const { id, url, proto, host, port, metadata, name, description } = endpoint;
  const { bindings, pooling, forwardsTo, http2, trafficPolicy } = endpoint;
  const online = tunnel && agents.sessionOf(tunnel.session);
  return {
    id,
    region: REGION,
    created_at: at,
    updated_at: at,
    public_url: url,
    url,
    proto,
    scheme: proto,
    hostport: `${host}:${port}`,
    host,
    port,
    type: 'agent',
    metadata,
    description,
    domain: null,
    tcp_addr: null,
    tunnel: ref(tunnel?.id, base),
    edge: null,
    name,
    principal: ref(online?.admitted.owner, base),
    upstream_url: forwardsTo,
    upstream_protocol: http2 ? 'http2' : '',
    traffic_policy: trafficPolicy,
    bindings: bindings.length === 0 ? [isInternalHost(host) ? 'internal' : 'public'] : bindings,
    tunnel_session: ref(online?.id, base),
    pooling_enabled: pooling,
  };
}
