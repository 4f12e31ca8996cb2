import type { Duplex } from 'node:stream';
import { tunnelEndpoint } from '../edge/tunnels.ts';
import type { Connection, World } from '../engine/contract.ts';
import type { OpenTunnel } from '../io/dial.ts';
import { proxyHeader } from '../server/proxy_protocol.ts';
import { type AgentCommand, type AgentFacts, authRefusal } from './agent_facts.ts';
import { permitsLabels, readBind, readLabelled } from './binding/bind_request.ts';
import { Endpoints, type EndpointsOptions } from './endpoints.ts';
import { type Members, type Refusal, isRefusal } from './binding/members.ts';
import {
  type Admitted,
  type OnlineSession,
  OnlineSessions,
  type SessionsOptions,
} from './online_sessions.ts';
import { OnlineTunnels, type Tunnel } from './online_tunnels.ts';
import {
  AgentSession,
  type CommandFailure,
  type ServerSide,
  type SessionHost,
  type SessionStart,
} from './session.ts';
import { TunnelIds } from './tunnel_ids.ts';

export interface AgentsOptions extends SessionsOptions {
  /** Decides about the token of an agent. */
  readonly admit: (token: string, address: string) => Promise<Admitted | Refusal>;
  readonly refuseAddress?: EndpointsOptions['refuseAddress'];
}

const REGION = 'local';

/** All connected agents, their tunnels and endpoints. */
export class Agents implements SessionHost {
  readonly region = REGION;
  readonly tunnels: OnlineTunnels;
  readonly endpoints: Endpoints;
  readonly #options: AgentsOptions;
  readonly #sessions: OnlineSessions;
  readonly #ids = new TunnelIds();
  /** Number of changes of rights so far. */
  #rightsChanges = 0;

  constructor(options: AgentsOptions) {
    this.#options = options;
    this.tunnels = new OnlineTunnels(options);
    this.endpoints = new Endpoints(options);
    this.#sessions = new OnlineSessions(options);
  }

  /** The world's answer to which tunnels a backend has. */
  readonly tunnelsOf: NonNullable<World['tunnels']> = (backend, labels) => this.tunnels.of(backend, labels);

  /** Newest first. */
  sessions(): OnlineSession[] {
    return this.#sessions.all();
  }

  /** The session with a connection that is open. */
  sessionOf(session: AgentSession): OnlineSession | undefined {
    return this.#sessions.of(session);
  }

  /** Takes a connection that has finished its TLS handshake. */
  accept(socket: Duplex, address: string, server: ServerSide = { ip: '', host: '' }): AgentSession {
    return new AgentSession(socket, address, this, server);
  }

  /** Opens a connection to the upstream of a tunnel. */
  readonly openTunnel: OpenTunnel = (id, kind, connection) => {
    const tunnel = this.tunnels.get(id);
    if (tunnel === undefined) return null;
    const { proxyProtocol } = tunnel.endpoint;
    const preface =
      proxyProtocol === undefined || connection === null ? null : proxyHeader(proxyProtocol, connection);
    return tunnel.session.carry(
      {
        Id: tunnel.agentsId,
        ClientAddr: connection === null ? '' : clientAddress(connection),
        Proto: tunnel.proto ?? kind,
        EdgeType: tunnel.labels === null ? '0' : EDGE_TYPES[kind],
        PassthroughTLS: kind === 'tls' && connection?.tls?.version === '',
      },
      preface,
    );
  };

  async command(id: string, command: AgentCommand): Promise<CommandFailure | null> {
    const online = this.#sessions.withId(id);
    if (online === undefined) return { kind: 'unreachable', message: 'the agent is not connected' };
    return online.session.command(command);
  }

  /** Ends the sessions of a credential, which was revoked. */
  revoke(credential: string, reason: string): void {
    this.#rightsChanges++;
    this.#sessions.kept.forget(credential);
    for (const { admitted, session } of this.sessions())
      if (admitted.credential === credential) session.close(reason);
  }

  /** Tells that the rules of a credential have changed: they hold for further binds of its sessions. */
  permit(credential: string, acl: readonly string[]): void {
    this.#rightsChanges++;
    for (const online of this.sessions())
      if (online.admitted.credential === credential) online.admitted = { ...online.admitted, acl };
  }

  close(reason: string): void {
    for (const { session } of this.sessions()) this.#end(session, reason);
  }

  // --- for sessions ----------------------------------------------------------------------------------------------

  async start(session: AgentSession, auth: Members, facts: AgentFacts): Promise<SessionStart | Refusal> {
    const extra = auth.object('Extra');
    const admit = () => this.#options.admit(extra?.text('AuthToken') ?? '', session.address);
    const refused = (refusal: Refusal, credential: string | null): Refusal => {
      this.#sessions.refused(session, facts, credential, refusal.message);
      return refusal;
    };
    let changes = this.#rightsChanges;
    let answer = authRefusal(auth) ?? (await admit());
    if (isRefusal(answer)) return refused(answer, null);
    const full = this.#sessions.refusal();
    if (full !== null) return refused(full, answer.credential);
    const cookieBefore = extra?.text('Cookie') ?? '';
    const kept = this.#sessions.resumedOrNew(auth.text('ClientId'), cookieBefore, answer.credential);
    const { id, cookie, startedMs } = kept;
    await this.#takeOver(id);
    // Rights may have been changed or revoked meanwhile, and another connection may have resumed the session.
    while (changes !== this.#rightsChanges || this.#sessions.withId(id) !== undefined) {
      changes = this.#rightsChanges;
      answer = await admit();
      if (isRefusal(answer)) return refused(answer, kept.credential);
      await this.#takeOver(id);
    }
    this.#sessions.add({ id, session, facts, admitted: answer, startedMs }, kept);
    return { clientId: id, cookie };
  }

  async bind(session: AgentSession, request: Members): Promise<object | Refusal> {
    const online = this.#sessions.of(session);
    const bind = readBind(request);
    if (online === undefined || isRefusal(bind)) return isRefusal(bind) ? bind : LEFT;
    const full = this.tunnels.refusal(session);
    if (full !== null) return full;
    const { acl, credential } = online.admitted;
    const agentsId = bind.id ?? this.tunnels.newId(session);
    const id = bind.id === null ? agentsId : this.#ids.idOf(bind.id, bind.token, credential);
    const isOnline = (): boolean => this.tunnels.get(id) !== undefined || this.tunnels.has(session, agentsId);
    const bound = await this.endpoints.bind(agentsId, bind, acl, isOnline);
    if (isRefusal(bound)) return bound;
    const { endpoint, opts } = bound;
    if (this.#sessions.of(session) === undefined) {
      await this.endpoints.release(endpoint.id);
      return LEFT;
    }
    this.tunnels.add({
      id,
      agentsId,
      session,
      startedMs: this.#options.nowMs(),
      metadata: bind.metadata,
      forwardsTo: bind.forwardsTo,
      labels: null,
      endpointId: endpoint.id,
      proto: bind.proto,
      endpoint: tunnelEndpoint(id, bind),
    });
    const Extra = { Token: this.#ids.tokenOf(agentsId, credential), TunnelID: agentsId };
    return { Id: agentsId, URL: endpoint.url, Proto: bind.proto, Opts: opts, Extra };
  }

  async startLabelled(session: AgentSession, request: Members): Promise<object | Refusal> {
    const online = this.#sessions.of(session);
    const wanted = readLabelled(request);
    if (online === undefined || isRefusal(wanted)) return isRefusal(wanted) ? wanted : LEFT;
    const { labels, forwardsTo, metadata, http2 } = wanted;
    if (!permitsLabels(online.admitted.acl, labels))
      return { number: 308, message: 'The rules of the credential do not permit these labels.' };
    const full = this.tunnels.refusal(session);
    if (full !== null) return full;
    const isOnline = (each: string): boolean =>
      this.tunnels.get(each) !== undefined || this.tunnels.has(session, each);
    const id = this.#sessions.kept.labelledId(online.id, wanted, isOnline) ?? this.tunnels.newId(session);
    this.#sessions.kept.labelled(online.id, wanted, id);
    this.tunnels.add({
      id,
      agentsId: id,
      session,
      startedMs: this.#options.nowMs(),
      metadata,
      forwardsTo,
      labels,
      endpointId: null,
      proto: null,
      endpoint: tunnelEndpoint(id, { http2, proxyProtocol: null }),
    });
    return { Id: id };
  }

  async unbind(session: AgentSession, id: string): Promise<void> {
    const tunnel = this.tunnels.called(session, id);
    if (tunnel === undefined) return;
    this.#sessions.kept.released(this.#sessions.of(session)?.id ?? '', id);
    await this.#remove(tunnel);
  }

  ended(session: AgentSession, reason: string): void {
    const online = this.#sessions.of(session);
    if (online === undefined) return;
    this.#sessions.remove(online, reason);
    for (const tunnel of this.tunnels.ofSession(session)) void this.#remove(tunnel);
  }

  // ---------------------------------------------------------------------------------------------------------------

  /** The old connection may look open still; its tunnels must be gone before they are bound again. */
  async #takeOver(id: string): Promise<void> {
    const before = this.#sessions.withId(id);
    if (before !== undefined) this.#end(before.session, 'the agent connected again');
    await this.endpoints.settled();
  }

  /** Ends a session at once, whenever its connection closes. */
  #end(session: AgentSession, reason: string): void {
    this.ended(session, reason);
    session.close(reason);
  }

  async #remove(tunnel: Tunnel): Promise<void> {
    this.tunnels.remove(tunnel);
    tunnel.session.connections.end(tunnel.agentsId, 'the tunnel was closed');
    if (tunnel.endpointId !== null) await this.endpoints.release(tunnel.endpointId);
  }
}

const LEFT: Refusal = { number: 103, message: 'The session has ended.' };

/** Kinds of edge, as agents know them. */
const EDGE_TYPES = { https: '3', tls: '2', tcp: '1' } as const;

function clientAddress({ client, clientPort }: Connection): string {
  return client.text.includes(':') ? `[${client.text}]:${clientPort}` : `${client.text}:${clientPort}`;
}
