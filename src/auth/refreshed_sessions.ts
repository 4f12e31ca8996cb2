import type { Conversation } from './conversation.ts';
import type { LoginKeys } from './keys.ts';
import { REFRESHED_MS } from './memory.ts';
import { askShared } from './one_time.ts';
import type { LoginContext, LoginRefusal } from './provider.ts';
import { type Session, type SessionPlace, openSession, sealSession } from './session.ts';

/** Refreshed sessions on several nodes: what one node has asked of a provider, the others need not ask again. */

/** The part of a visit that is needed here. */
interface Visited extends Pick<LoginContext, 'registry' | 'world'> {
  readonly gate: { readonly keys: LoginKeys };
  readonly place: SessionPlace;
}

/** Longer than a provider may take. */
const ASKING_MS = 15_000;
/** Longer than any shared state takes for forgetting the mark of a try. */
const FAILURES_KEPT_MS = 10 * 60_000;

/** Keeps a refreshed session for the other nodes, sealed: the shared state never sees tokens. */
export function* keepForOthers({ gate, place, world }: Visited, session: Session): Conversation<void> {
  if (world.sharesState !== true) return;
  const text = sealSession(gate.keys, session, place, world);
  yield* askShared({ do: 'keep', id: idOf(session), text, untilMs: world.nowMs() + REFRESHED_MS });
}

/** The session as another node has refreshed it since; null if none has. */
export function* refreshedByOthers({ gate, place }: Visited, session: Session): Conversation<Session | null> {
  const answer = yield* askShared({ do: 'find', id: idOf(session) });
  if (!('text' in answer) || answer.text === null) return null;
  const found = openSession(gate.keys, answer.text, place);
  return found !== null && found.checkedMs > session.checkedMs ? { ...found, seenMs: session.seenMs } : null;
}

/** Whether another node asks the provider about the session now; if not, this one does. `failures` before this try. */
export function* isAskedByOthers(
  { world }: Visited,
  { id, checkedMs }: Session,
  failures: number,
): Conversation<boolean> {
  const nowMs = world.nowMs();
  const mark = `check ${id} ${checkedMs} ${failures}`;
  const life = { sinceMs: nowMs, untilMs: nowMs + ASKING_MS };
  const answer = yield* askShared({ do: 'use_once', of: 'check', id: mark, ...life });
  return 'use' in answer && answer.use === 'used';
}

/**
 * How often the provider could not be asked about the session since its last check, by any node; null if the nodes
 * cannot tell.
 */
export function* failuresToAsk(session: Session): Conversation<number | null> {
  const answer = yield* askShared({ do: 'find', id: failuresOf(session) });
  return 'text' in answer ? Number(answer.text ?? 0) : null;
}

/** Notes for the other nodes that the provider could not be asked: they must not pass the session meanwhile. */
export function* keepFailure({ world }: Visited, session: Session, failures: number): Conversation<void> {
  const untilMs = world.nowMs() + FAILURES_KEPT_MS;
  yield* askShared({ do: 'keep', id: failuresOf(session), text: String(failures), untilMs });
}

/** The refusal of a request while another node asks again about a session that it could not ask about before. */
export const ASKED_AGAIN: LoginRefusal = {
  refused: 'provider_failed',
  message: 'The identity provider cannot be reached. Please try again later.',
  detail: { detail: 'another node asks again' },
};

function failuresOf({ id, checkedMs }: Session): string {
  return `failures ${id} ${checkedMs}`;
}

function idOf({ id }: Session): string {
  return `refreshed ${id}`;
}
