/**
 * What a handler asks of the state that several processes or nodes share. Where nothing is shared (`World.sharesState`)
 * handlers keep that state themselves and ask nothing.
 */
export type SharedRequest =
  /** Counts a request in a sliding window, if the window has room for it. */
  | {
      readonly do: 'take';
      /** The limit: equal on all nodes with the same configuration. */
      readonly limit: string;
      readonly key: string;
      readonly capacity: number;
      readonly windowMs: number;
    }
  /**
   * Marks an id as used: of a login state, a logout message or token, an assertion, or a check. Each kind is counted by
   * itself. Ids of assertions are never forgotten before their time; the mark of a check is a lease, and is forgotten
   * at its time, because its process may have ended.
   */
  | {
      readonly do: 'use_once';
      readonly of: 'state' | 'message' | 'assertion' | 'check';
      readonly id: string;
      /** When the id was made: what has forgotten ids of that time cannot tell. */
      readonly sinceMs: number;
      readonly untilMs: number;
    }
  /** Keeps a text for other nodes; a later text replaces it. */
  | { readonly do: 'keep'; readonly id: string; readonly text: string; readonly untilMs: number }
  | { readonly do: 'find'; readonly id: string }
  /** Waits until all logouts and revocations of this node so far are with the others. */
  | { readonly do: 'publish' };

export type SharedQuestion = { readonly ask: 'shared'; readonly request: SharedRequest };

/** What limits do while the shared state cannot be asked: count here alone, refuse, or let pass. */
export type WhenUnavailable = 'local' | 'deny' | 'allow';

export type SharedAnswer =
  /** 0: admitted. Otherwise the time until a request would be admitted, in ms. */
  | { readonly waitMs: number }
  | { readonly use: 'fresh' | 'used' | 'full' | 'unknown' }
  | { readonly text: string | null }
  | { readonly done: true }
  | { readonly unavailable: WhenUnavailable; readonly detail: string };
