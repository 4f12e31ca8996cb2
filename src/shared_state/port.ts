import type { SharedAnswer, SharedRequest } from '../engine/shared_question.ts';
import type { LoginRegistry } from '../auth/registry.ts';

/** Questions in flight to the shared state; further ones are not asked. */
export const PENDING_LIMIT = 20_000;
/** A longer text is not kept: it would be longer than the cookies of a session. In UTF-16 units. */
export const TEXT_LIMIT_UNITS = 64_000;

/** The state that nodes share, as one of them sees it. */
export interface SharedState {
  /** Answers at once, or later within a bound of the adapter; never throws and never rejects. */
  readonly ask: (request: SharedRequest) => SharedAnswer | Promise<SharedAnswer>;
  /** Ties a registry to those of the other nodes: what ends at one ends at all. Resolves when it knows what they know. */
  readonly join: (registry: SharedRegistry) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The part of a registry that nodes have in common. */
export type SharedRegistry = Pick<LoginRegistry, 'onEnd' | 'restore' | 'all'>;
