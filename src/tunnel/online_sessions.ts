import type { Refusal } from './binding/members.ts';
import type { AgentFacts } from './agent_facts.ts';
import { type KeptSession, KeptSessions, keptSession } from './kept_sessions.ts';
import type { AgentSession, ServerSide } from './session.ts';

/** The rights of a session. */
export interface Admitted {
  /** Id of the credential; null where there are no credentials. */
  readonly credential: string | null;
  /** Id of the owner of the credential. */
  readonly owner?: string;
  readonly acl: readonly string[];
}

/** A session of an agent, from its first connection on. */
export interface OnlineSession {
  readonly id: string;
  readonly session: AgentSession;
  readonly facts: AgentFacts;
  /** Changes when the rules of the credential do. */
  admitted: Admitted;
  readonly startedMs: number;
}

export interface SessionEvent {
  readonly type: 'start' | 'stop';
  readonly id: string;
  readonly address: string;
  readonly server: ServerSide;
  readonly facts: AgentFacts;
  readonly credential: string | null;
  readonly startedMs: number;
  readonly stoppedMs: number | null;
  /** Why it could not start, or why it stopped; empty for a start that succeeded. */
  readonly error: string;
}

export interface SessionsOptions {
  readonly nowMs: () => number;
  readonly newId: (prefix: string) => string;
  readonly onSession?: (event: SessionEvent) => void;
}

const MAX_SESSIONS = 1_000;

/** The sessions of connected agents, and their events. */
export class OnlineSessions {
  /** What resumed sessions get back. */
  readonly kept = new KeptSessions();
  readonly #options: SessionsOptions;
  readonly #bySession = new Map<AgentSession, OnlineSession>();
  readonly #byId = new Map<string, OnlineSession>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  of(session: AgentSession): OnlineSession | undefined {
    return this.#bySession.get(session);
  }

  withId(id: string): OnlineSession | undefined {
    return this.#byId.get(id);
  }

  /** Newest first. */
  all(): OnlineSession[] {
    return Array.from(this.#bySession.values()).toReversed();
  }

  /** Why there can be no further session. */
  refusal(): Refusal | null {
    if (this.#bySession.size < MAX_SESSIONS) return null;
    return { number: 108, message: `There are ${MAX_SESSIONS} sessions, which is the limit.` };
  }

  /** The session that an agent resumes, or a new one. */
  resumedOrNew(id: string, cookie: string, credential: string | null): KeptSession {
    return (
      this.kept.resumed(id, cookie, credential) ??
      keptSession(this.#options.newId('ts'), credential, this.#options.nowMs())
    );
  }

  add(online: OnlineSession, kept: KeptSession): void {
    this.kept.keep(kept, this.#byId);
    this.#bySession.set(online.session, online);
    this.#byId.set(online.id, online);
    this.#tell('start', online, null, '');
  }

  remove(online: OnlineSession, reason: string): void {
    this.#bySession.delete(online.session);
    // Another connection may have resumed it.
    if (this.#byId.get(online.id) === online) this.#byId.delete(online.id);
    this.#tell('stop', online, this.#options.nowMs(), reason);
  }

  /** Reports a session that could not start. */
  refused(session: AgentSession, facts: AgentFacts, credential: string | null, reason: string): void {
    const startedMs = this.#options.nowMs();
    const admitted = { credential, acl: [] };
    this.#tell('start', { id: this.#options.newId('ts'), session, facts, admitted, startedMs }, null, reason);
  }

  #tell(type: SessionEvent['type'], online: OnlineSession, stoppedMs: number | null, error: string): void {
    const { id, session, facts, admitted, startedMs } = online;
    const { address, server } = session;
    const { credential } = admitted;
    this.#options.onSession?.({ type, id, address, server, facts, credential, startedMs, stoppedMs, error });
  }
}
