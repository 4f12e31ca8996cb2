import type { SharedAnswer, SharedRequest } from '../engine/shared_question.ts';
import { type Conversation, asked } from './conversation.ts';
import type { Life } from './login_state.ts';
import type { LoginContext, LoginRefusal } from './provider.ts';
import { useOnce } from './registry.ts';
import { useAssertion } from './saml/replay.ts';

/** Where ids are remembered: here, or by all nodes together. */
type Memory = Pick<LoginContext, 'registry' | 'world'>;

/** Asks the state that nodes share. */
export function askShared(request: SharedRequest): Conversation<SharedAnswer> {
  return asked({ ask: 'shared', request });
}

/**
 * Marks the id of a login state (`state`), or of a logout token or a logout message (`message`) as used. `unknown`: the
 * nodes cannot tell; nothing that must be used once is accepted then, whatever the policy for limits says.
 */
export function* useIdOnce(
  { registry, world }: Memory,
  of: 'state' | 'message',
  id: string,
  { sinceMs, untilMs }: Life,
): Conversation<'fresh' | 'used' | 'unknown'> {
  const nowMs = world.nowMs();
  if (world.sharesState !== true) return useOnce(registry.used[of], id, untilMs, nowMs) ? 'fresh' : 'used';
  const answer = yield* askShared({ do: 'use_once', of, id, sinceMs, untilMs });
  if (!('use' in answer) || answer.use === 'full') return 'unknown';
  return answer.use;
}

/** Marks an assertion as used. */
export function* useAssertionOnce(
  { registry, world }: Memory,
  id: string,
  { sinceMs, untilMs }: Life,
): Conversation<'fresh' | 'used' | 'full' | 'unknown'> {
  if (world.sharesState !== true) return useAssertion(registry.assertions, id, untilMs, world.nowMs());
  const answer = yield* askShared({ do: 'use_once', of: 'assertion', id, sinceMs, untilMs });
  return 'use' in answer ? answer.use : 'unknown';
}

/** Lets a logout be answered when it holds on all nodes, or when they cannot be reached in time: it follows then. */
export function* published({ world }: Pick<Memory, 'world'>): Conversation<void> {
  if (world.sharesState === true) yield* askShared({ do: 'publish' });
}

/** A login that cannot be completed, because it is unknown whether it was completed before. */
export const UNKNOWN_USE: LoginRefusal = {
  refused: 'provider_failed',
  title: 'The login cannot be completed now',
  message: 'It cannot be checked whether this login was completed before.',
  detail: { problem: 'shared_state' },
};
