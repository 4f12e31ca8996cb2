import type { Identity } from '../../dev_idp/identities.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { WhenUnavailable } from '../../engine/shared_question.ts';

/** How several nodes run the edge of a simulated world. */
export interface NodesSetting {
  readonly count: number;
  /** Who counts for rate limits: each node for itself, one state for all, or each node its part of the capacity. */
  readonly limits: LimitsMode;
  /** Whether logouts, revocations and used ids are in the shared state, or at each node alone. */
  readonly sessions: SessionsMode;
  /** What limits do at a node that is cut off from the shared state. */
  readonly whenUnavailable: WhenUnavailable;
  /** Which node receives a request. */
  readonly spread: Spread;
  /** Time until the other nodes have a new configuration, or the end of a session. */
  readonly delayMs: number;
}

// table: values and what they mean, for the schema, the command line and reports
export const LIMITS_MODES = {
  local: 'each node counts for itself',
  shared: 'one state counts for all nodes',
  divided: 'each node admits its part of the capacity',
} as const;
export type LimitsMode = keyof typeof LIMITS_MODES;

export const SESSIONS_MODES = {
  local: 'each node knows only the logouts and revocations that it received',
  shared: 'nodes tell each other of logouts and revocations',
} as const;
type SessionsMode = keyof typeof SESSIONS_MODES;

export const SPREADS = {
  random: 'any node, by the seed',
  round_robin: 'one after the other',
  client: 'by the address of the client and the seed, so that a client stays at its node',
} as const;
type Spread = keyof typeof SPREADS;

export const UNAVAILABLE_MODES = {
  local: 'the node counts for itself',
  deny: 'requests are refused with 503',
  allow: 'requests pass unchecked',
} as const satisfies Record<WhenUnavailable, string>;

/** More nodes than this are not compiled for one world. */
export const MAX_NODES = 64;
export const DEFAULT_DELAY_MS = 100;

/** The setting of so many nodes, with defaults for the rest. */
export function nodesSetting(given: Partial<NodesSetting> & Pick<NodesSetting, 'count'>): NodesSetting {
  const limits = given.limits ?? 'local';
  return {
    limits,
    sessions: limits === 'shared' ? 'shared' : 'local',
    whenUnavailable: 'local',
    spread: 'random',
    delayMs: DEFAULT_DELAY_MS,
    ...given,
  };
}

/** A node by its number from 1, the shared state, or the store of configurations. */
export type Member = number | 'state' | 'store';

/** What happens to nodes at one time. */
export type NodesChange =
  /** Members of different groups cannot reach each other; those that no group names stay together. Replaces former cuts. */
  | { readonly does: 'cut'; readonly groups: readonly (readonly Member[])[] }
  | { readonly does: 'join' }
  /** A new configuration is written at one node. */
  | { readonly does: 'configure'; readonly config: EdgeConfig; readonly on: number; readonly name: string }
  /** The sessions of an identity are revoked at one node. */
  | { readonly does: 'revoke'; readonly identity: Identity; readonly on: number };

/** What happens to nodes, as a short text. */
export function nodesChangeText(change: NodesChange): string {
  switch (change.does) {
    case 'cut':
      return `cut: ${change.groups.map((group) => group.join(', ')).join(' | ')}`;
    case 'join':
      return 'join';
    case 'configure':
      return `${change.name} on node ${change.on}`;
    case 'revoke':
      return `${change.identity.key} revoked on node ${change.on}`;
  }
}
