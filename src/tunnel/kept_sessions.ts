import { digest, equalTexts } from '../crypto/digest.ts';
import { secretText } from '../crypto/random.ts';
import type { LabelledRequest } from './binding/bind_request.ts';

/** What is remembered of a session, so that its agent can resume it with another connection. */
export interface KeptSession {
  readonly id: string;
  readonly cookie: string;
  readonly credential: string | null;
  readonly startedMs: number;
  /** Ids of tunnels with labels by their request: the agent does not send them again. */
  readonly labelled: Map<string, string>;
  /** The requests by these ids. */
  readonly requests: Map<string, string>;
}

const COOKIE_CHARACTERS = 25;
/** The sessions that have ended longest ago are forgotten first. */
const MAX_KEPT = 2_000;
/** Tunnels with labels that are remembered of a session; an agent may ask for others each time it connects. */
const MAX_LABELLED = 2_000;

export function keptSession(id: string, credential: string | null, startedMs: number): KeptSession {
  return {
    id,
    cookie: secretText(COOKIE_CHARACTERS),
    credential,
    startedMs,
    labelled: new Map(),
    requests: new Map(),
  };
}

export class KeptSessions {
  readonly #byId = new Map<string, KeptSession>();

  /** The session that an agent resumes: it needs the cookie of its last response and the same credential. */
  resumed(id: string, cookie: string, credential: string | null): KeptSession | null {
    const kept = this.#byId.get(id);
    const isIts = kept !== undefined && equalTexts(kept.cookie, cookie) && kept.credential === credential;
    return isIts ? kept : null;
  }

  keep(kept: KeptSession, online: { readonly has: (id: string) => boolean }): void {
    this.#byId.delete(kept.id);
    this.#byId.set(kept.id, kept);
    if (this.#byId.size <= MAX_KEPT) return;
    for (const id of this.#byId.keys()) {
      if (online.has(id) || id === kept.id) continue;
      this.#byId.delete(id);
      return;
    }
  }

  /** Forgets the sessions of a credential. */
  forget(credential: string): void {
    for (const [id, kept] of this.#byId) if (kept.credential === credential) this.#byId.delete(id);
  }

  /** The id that a tunnel with labels had before: its agent goes on to use that one. Null for a new tunnel. */
  labelledId(id: string, request: LabelledRequest, isOnline: (tunnel: string) => boolean): string | null {
    const before = this.#byId.get(id)?.labelled.get(keyOf(request));
    return before === undefined || isOnline(before) ? null : before;
  }

  /** Records a tunnel with labels. */
  labelled(id: string, request: LabelledRequest, tunnel: string): void {
    const kept = this.#byId.get(id);
    if (kept === undefined) return;
    const { labelled, requests } = kept;
    const key = keyOf(request);
    // Of two tunnels with the same request the newer one is remembered.
    requests.delete(labelled.get(key) ?? '');
    labelled.set(key, tunnel);
    requests.set(tunnel, key);
    if (labelled.size <= MAX_LABELLED) return;
    const [[oldest, its]] = labelled as unknown as [[string, string]];
    labelled.delete(oldest);
    requests.delete(its);
  }

  /** The agent has closed a tunnel, and will not ask for it again. */
  released(id: string, tunnel: string): void {
    const kept = this.#byId.get(id);
    const request = kept?.requests.get(tunnel);
    if (kept === undefined || request === undefined) return;
    kept.requests.delete(tunnel);
    kept.labelled.delete(request);
  }
}

function keyOf({ labels, forwardsTo, metadata }: LabelledRequest): string {
  const sorted = Object.keys(labels)
    .toSorted()
    .map((name) => [name, labels[name]]);
  return digest('sha256', [JSON.stringify([sorted, forwardsTo, metadata])], 'base64');
}
