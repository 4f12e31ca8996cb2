import type { ResourceObject } from '../resources/contract.ts';

/**
 * The storage interface of the management API. It is small on purpose: an adapter for another database only has
 * to pass the suite in `test/control/store/contract.ts`. All methods are asynchronous, because a database may be
 * remote.
 */
export interface Store {
  /** Runs reads on one consistent snapshot of the store. */
  read<Answer>(work: (view: View) => Promise<Answer>): Promise<Answer>;
  /** Like `read`, for work that takes many turns of the event loop: other reads do not wait for it. */
  readLong<Answer>(work: (view: View) => Promise<Answer>): Promise<Answer>;
  /**
   * Runs `work` exclusively: all of its writes are durable when the promise is fulfilled, and none is kept if
   * `work` throws. Throws `ClaimTaken` from `work` if a claim belongs to another object, and StoreUnavailable
   * if the database cannot be written. Writes that wait at the same time may be committed together.
   */
  write<Answer>(work: (transaction: Transaction) => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
  /** What a store gives that several nodes serve; absent where one instance does. */
  readonly nodes?: Nodes;
}

/** Changes that other nodes have committed. */
export interface News {
  /** The revision after them. */
  readonly revision: number;
  /** The objects that were created, changed or removed; null if there are too many to be known. */
  readonly objects: readonly Pick<ResourceObject, 'id' | 'kind' | 'parent'>[] | null;
  /** Names of the settings that were set. */
  readonly settings: readonly string[];
}

/** The nodes that serve one store. The revision in the store is the truth; each node has activated one of its revisions. */
export interface Nodes {
  /**
   * Follows the store from a revision on: `apply` activates what others have committed, soon after they have, and
   * before each write of this node. One call at a time, and never beside a write. If it throws, the revision stays and no
   * write of this node is accepted, until a later call succeeds.
   */
  readonly follow: (from: number, apply: (news: News, view: View) => Promise<void>) => void;
  /** The revision that is active on this node. */
  readonly revision: () => number;
  /** Milliseconds since this was known to be the last revision of the store. */
  readonly ageMs: () => number;
  /** Whether this node does what only one may do; at most one leads at a time, as the store sees it. */
  readonly leads: () => boolean;
  /** Called when this node begins to lead. */
  readonly onLead: (leading: () => void) => void;
  /** Waits, at most for a time, until all live nodes have activated a revision. Returns how many have, and how many live. */
  readonly everywhere: (
    revision: number,
    limitMs: number,
  ) => Promise<{ readonly active: number; readonly live: number }>;
}

/** An object with what the store checks when it is written. */
export interface StoredObject extends ResourceObject {
  /** Ids of objects that this one refers to; they must exist as long as it does. */
  readonly references: readonly string[];
  /** Unique values of this object. */
  readonly claims: readonly Claim[];
}

/** A value that is unique within a space, such as `shop.test:443` in `hostport`. */
export interface Claim {
  readonly space: string;
  readonly value: string;
}

/** A page of a list, newest first. */
interface Page {
  readonly parent?: string;
  /** Only objects whose id sorts before this one. */
  readonly beforeId?: string;
  readonly limit: number;
}

export interface View {
  get(id: string): Promise<ResourceObject | null>;
  list(kind: string, page: Page): Promise<readonly ResourceObject[]>;
  /** Every object of the given kinds, oldest first; many are read in several turns of the event loop. */
  all(kinds: readonly string[]): Promise<readonly ResourceObject[]>;
  /** Ids of the objects that refer to this one. */
  referrers(id: string): Promise<readonly string[]>;
  /** Id of the object that holds a claim. */
  claimant(claim: Claim): Promise<string | null>;
  /** Audit records, newest first. */
  audit(limit: number): Promise<readonly AuditRecord[]>;
  /** Oldest pending deliveries to a destination. */
  waiting(destination: string, limit: number): Promise<readonly Delivery[]>;
  waitingCount(destination: string): Promise<number>;
  /** Oldest dead letters of a destination. */
  deadLetters(destination: string, limit: number): Promise<readonly DeadLetter[]>;
  deadLetterCount(destination: string): Promise<number>;
  setting(name: string): Promise<string | null>;
  /** The revision that is read; absent where one instance serves the store. */
  readonly revision?: () => Promise<number>;
}

export interface Transaction extends View {
  insert(object: StoredObject): Promise<void>;
  /** Replaces the object with the same id. */
  replace(object: StoredObject): Promise<void>;
  /** Removes an object and its parts; the caller has checked for referrers. */
  remove(id: string): Promise<void>;
  /** Stores an audit record, and a delivery of its event for each destination. */
  record(record: AuditRecord, destinations: readonly string[]): Promise<void>;
  /** Removes completed deliveries. */
  delivered(sequences: readonly number[]): Promise<void>;
  /** Keeps events that a destination refuses for good; of more than 1,000 the oldest are removed. */
  bury(destination: string, letters: readonly Omit<DeadLetter, 'sequence'>[]): Promise<void>;
  /** Makes pending deliveries of the dead letters of a destination; returns their number. */
  revive(destination: string): Promise<number>;
  /** Drops the oldest droppable deliveries to a destination, so that at most `keep` remain; returns their number. */
  dropOldest(destination: string, keep: number): Promise<number>;
  /**
   * Removes audit records, or pending deliveries, whose events are older than a time (RFC 3339, whole seconds, UTC),
   * oldest first and at most `limit`; returns their number.
   */
  expire(what: 'audit' | 'deliveries', before: string, limit: number): Promise<number>;
  set(name: string, value: string): Promise<void>;
  /** Registers what to do if the writes are not kept after all; the last registered action runs first. */
  undone(action: () => void): void;
  /**
   * Registers what to do when the writes are durable, before they are answered. Absent where the commit is so short that
   * writes may take effect before it.
   */
  readonly committed?: (action: () => void) => void;
}

/** One change of an object: its event as delivered, as JSON. */
interface AuditRecord {
  readonly eventId: string;
  readonly eventType: string;
  readonly objectId: string;
  readonly event: string;
  /** Whether its pending deliveries may be dropped when there are too many; default false. */
  readonly isDroppable?: boolean;
}

/** A pending delivery of one event to one destination. */
export interface Delivery {
  readonly sequence: number;
  readonly event: string;
}

/** An event that a destination refused for good. */
export interface DeadLetter extends Delivery {
  readonly reason: string;
}

/** A claim belongs to another object. */
export class ClaimTaken extends Error {
  override readonly name = 'ClaimTaken';
  readonly claim: Claim;

  constructor(claim: Claim) {
    super(`${claim.space} '${claim.value}' is taken`);
    this.claim = claim;
  }
}

/**
 * A reference to nothing. It is found where it is made: the database would find it at the commit, when several writes
 * would have to fail for it.
 */
export class Dangling extends Error {
  override readonly name = 'Dangling';

  constructor(from: string, to: string) {
    super(`${from} would refer to ${to}, which does not exist`);
  }
}

/** Dead letters of a destination; of more, the oldest are removed. */
export const DEAD_LETTERS_KEPT = 1_000;

/** Sorts after every id: ids consist of lower-case letters, digits and underscores. */
export const AFTER_EVERY_ID = '~';

/** The store cannot be opened; the message is for the user. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** Why a database cannot be used at the moment. */
export type Unavailability = 'locked' | 'full' | 'failed';

/**
 * The database cannot be used at the moment. Nothing was written, unless the message, a sentence for the user, says that
 * this is not known.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly why: Unavailability;

  constructor(why: Unavailability, message: string, cause: unknown) {
    super(message, { cause });
    this.why = why;
  }
}
