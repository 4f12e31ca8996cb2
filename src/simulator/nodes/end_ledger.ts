import { REVOCATIONS_LIMIT } from '../../auth/registry.ts';
import { type LoginEnd, endKey, revocations, userIdOf } from '../../auth/revocations.ts';
import type { Session } from '../../auth/session.ts';

/** The end of a session or of all sessions of a user, and who let such a session pass afterwards. */
export interface EndReport {
  readonly of: 'session' | 'user' | 'provider session';
  readonly atMs: number;
  /** The node that ended it. */
  readonly node: number;
  /** When each node knew; null for one that never did. */
  readonly knownMs: readonly (number | null)[];
  /** Requests with such a session that passed afterwards. */
  readonly passed: number;
  /** When the last of them passed; null for none. */
  readonly lastPassedMs: number | null;
}

interface Kept {
  readonly key: string;
  readonly of: EndReport['of'];
  readonly atMs: number;
  readonly node: number;
  readonly knownMs: (number | null)[];
  passed: number;
  lastPassedMs: number | null;
}

/** Ends beyond this are counted, without a report of their own. */
const MAX_REPORTED = 1_000;

/** What all nodes together know of ended sessions. */
export class EndLedger {
  readonly #all = revocations(REVOCATIONS_LIMIT);
  readonly #kept = new Map<string, Kept>();
  readonly #nodes: number;
  #unreported = 0;

  constructor(nodes: number) {
    this.#nodes = nodes;
  }

  ended(end: LoginEnd, node: number): void {
    this.#all.restore([end], Number.NEGATIVE_INFINITY);
    if (this.#kept.size >= MAX_REPORTED) {
      this.#unreported++;
      return;
    }
    const { key, ms: atMs } = end;
    const knownMs = Array.from({ length: this.#nodes }, (_, at) => (at + 1 === node ? atMs : null));
    const kept = { key, of: kindOf(key), atMs, node, knownMs, passed: 0, lastPassedMs: null };
    this.#kept.set(nameOf(end), kept);
  }

  known(end: LoginEnd, node: number, nowMs: number): void {
    const kept = this.#kept.get(nameOf(end));
    if (kept !== undefined) kept.knownMs[node - 1] ??= nowMs;
  }

  /** A node lets a session pass. */
  passes(session: Session, nowMs: number): void {
    if (!this.#all.isRevoked(session)) return;
    const { id, provider, user, providerSession } = session;
    const keys = [endKey.session(id), endKey.user(userIdOf(provider, user.id))];
    if (providerSession !== null) keys.push(endKey.atProvider(provider, providerSession));
    for (const kept of this.#kept.values()) {
      if (!keys.includes(kept.key) || session.startMs > kept.atMs) continue;
      kept.passed++;
      kept.lastPassedMs = nowMs;
    }
  }

  report(): { readonly ends: readonly EndReport[]; readonly unreported: number } {
    const ends = Array.from(this.#kept.values(), ({ key: _key, ...end }): EndReport => end);
    return { ends, unreported: this.#unreported };
  }
}

/** A user can be ended several times. */
function nameOf({ key, ms }: LoginEnd): string {
  return `${key} ${ms}`;
}

function kindOf(key: string): EndReport['of'] {
  if (key.startsWith('user ')) return 'user';
  return key.startsWith('session ') ? 'session' : 'provider session';
}
