import { type SelectableTunnel, Tunnels } from '../edge/tunnels.ts';
import type { BindRequest } from './binding/bind_request.ts';
import { TOO_MANY } from './binding/endpoint_table.ts';
import type { Refusal } from './binding/members.ts';
import type { SessionsOptions } from './online_sessions.ts';
import type { AgentSession } from './session.ts';

/** A tunnel of a connected agent. */
export interface Tunnel extends SelectableTunnel {
  readonly session: AgentSession;
  /** What its agent calls it; ids of tunnels that are bound again are proven first. */
  readonly agentsId: string;
  readonly startedMs: number;
  readonly metadata: string;
  readonly forwardsTo: string;
  /** What connections are called towards the agent; null for a tunnel with labels, where the edge decides. */
  readonly proto: BindRequest['proto'] | null;
}

const MAX_TUNNELS = 10_000;
const MAX_TUNNELS_OF_SESSION = 2_000;

/** The tunnels of connected agents: as backends find them, and by the session that carries them. */
export class OnlineTunnels extends Tunnels<Tunnel> {
  /** The tunnels of each session, by what their agent calls them. */
  readonly #ofSession = new Map<AgentSession, Map<string, Tunnel>>();
  readonly #options: Pick<SessionsOptions, 'newId'>;

  constructor(options: Pick<SessionsOptions, 'newId'>) {
    super();
    this.#options = options;
  }

  /** The tunnel of a session that its agent calls so. */
  called(session: AgentSession, agentsId: string): Tunnel | undefined {
    return this.#ofSession.get(session)?.get(agentsId);
  }

  has(session: AgentSession, agentsId: string): boolean {
    return this.#ofSession.get(session)?.has(agentsId) === true;
  }

  /** An agent may call a tunnel whatever it wants, also by an id that is not given yet. */
  newId(session: AgentSession): string {
    let id = this.#options.newId('tn');
    while (this.has(session, id)) id = this.#options.newId('tn');
    return id;
  }

  ofSession(session: AgentSession): Iterable<Tunnel> {
    return this.#ofSession.get(session)?.values() ?? [];
  }

  /** Why a session can have no further tunnel. */
  refusal(session: AgentSession): Refusal | null {
    const own = this.#ofSession.get(session)?.size ?? 0;
    if (own >= MAX_TUNNELS_OF_SESSION)
      return { number: TOO_MANY, message: `The session has ${own} tunnels, which is the limit.` };
    const { size } = this;
    if (size < MAX_TUNNELS) return null;
    return { number: TOO_MANY, message: `There are ${size} tunnels in all, which is the limit.` };
  }

  override add(tunnel: Tunnel): void {
    super.add(tunnel);
    const own = this.#ofSession.get(tunnel.session) ?? new Map<string, Tunnel>();
    this.#ofSession.set(tunnel.session, own.set(tunnel.agentsId, tunnel));
  }

  override remove(tunnel: Tunnel): void {
    super.remove(tunnel);
    const own = this.#ofSession.get(tunnel.session);
    own?.delete(tunnel.agentsId);
    if (own?.size === 0) this.#ofSession.delete(tunnel.session);
  }
}
