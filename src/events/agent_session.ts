import { wholeSeconds } from './timestamps.ts';

/** The contents of an `agent_session_…` event. */
export interface AgentSessionFacts {
  readonly type: 'start' | 'stop';
  readonly sessionId: string;
  readonly credentialId: string | null;
  readonly agentIp: string;
  readonly serverIp: string;
  readonly serverHost: string;
  readonly region: string;
  readonly userAgent: string;
  readonly metadata: string;
  readonly os: string;
  readonly arch: string;
  readonly startedMs: number;
  readonly stoppedMs: number | null;
  /** Why the session could not start, or why it stopped; empty for a start that succeeded. */
  readonly error: string;
}

/**
 * The object of `agent_session_start.v0` and `agent_session_stop.v0` (specification, Audit events). Sessions do not
 * expire, and no version of an agent is deprecated.
 */
export function agentSessionObject(facts: AgentSessionFacts, uriOf: (id: string) => string): object {
  const { sessionId, credentialId, startedMs, stoppedMs } = facts;
  return {
    session: { id: sessionId, uri: uriOf(sessionId) },
    credential: { id: credentialId ?? '', uri: credentialId === null ? '' : uriOf(credentialId) },
    agent_ip: facts.agentIp,
    ingress_server_ip: facts.serverIp,
    region: facts.region,
    ingress_hostname: facts.serverHost,
    user_agent: facts.userAgent,
    metadata: facts.metadata,
    os: facts.os,
    arch: facts.arch,
    transport: 'muxado',
    started_at: wholeSeconds(startedMs),
    expires_at: null,
    stopped_at: stoppedMs === null ? null : wholeSeconds(stoppedMs),
    deprecated: { upcoming_minimum_version: '', upcoming_enforcement_date: '', message: '' },
    error: facts.error,
  };
}
