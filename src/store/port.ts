/**
 * What the management API needs of a store. Small on purpose: an adapter for another database has to pass the suite in
 * `test/store/contract.ts`, nothing else. Everything is asynchronous because a database over a network is.
 */
export interface Store {
  /** Reads that see one state of the store. */
  read<Answer>(work: (view: View) => Promise<Answer>): Promise<Answer>;
  /**
   * Runs `work` alone: all of its writes are kept, durably, when the promise is fulfilled, and none when `work` throws.
   * Throws `ClaimTaken` out of `work` when a claim belongs to another object.
   */
  write<Answer>(work: (transaction: Transaction) => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

/** One object of the management API. */
export interface StoredObject {
  /** Sortable by time: lists are in the order of ids. */
  readonly id: string;
  readonly kind: string;
  /** The object that this one is a part of, and is removed with. */
  readonly parent: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** Ids of objects that this one names, and that must exist as long as it does. */
  readonly references: readonly string[];
  /** What this object alone may have. */
  readonly claims: readonly Claim[];
}

/** A value that only one object may have in a space, such as `hostport` and `shop.test:443`. */
export interface Claim {
  readonly space: string;
  readonly value: string;
}

/** A page of a list, newest first. */
export interface Page {
  readonly parent?: string;
  /** Only objects whose id comes before this one. */
  readonly beforeId?: string;
  readonly limit: number;
}

export interface View {
  get(id: string): Promise<StoredObject | null>;
  list(kind: string, page: Page): Promise<readonly StoredObject[]>;
  /** Every object of some kinds, oldest first. */
  all(kinds: readonly string[]): Promise<readonly StoredObject[]>;
  /** Ids of the objects that name this one. */
  referrers(id: string): Promise<readonly string[]>;
  /** Who has a claim. */
  claimant(claim: Claim): Promise<string | null>;
  /** Audit records, newest first. */
  audit(limit: number): Promise<readonly AuditRecord[]>;
  /** Oldest deliveries that wait for a destination. */
  waiting(destination: string, limit: number): Promise<readonly Delivery[]>;
  waitingCount(destination: string): Promise<number>;
  setting(name: string): Promise<string | null>;
}

export interface Transaction extends View {
  insert(object: StoredObject): Promise<void>;
  /** Takes the place of the object with the same id. */
  replace(object: StoredObject): Promise<void>;
  /** Removes an object and its parts; the caller has looked for referrers. */
  remove(id: string): Promise<void>;
  /** Keeps an audit record, and a delivery of its event for each destination. */
  record(record: AuditRecord, destinations: readonly string[]): Promise<void>;
  /** Forgets deliveries that were made. */
  delivered(sequences: readonly number[]): Promise<void>;
  set(name: string, value: string): Promise<void>;
}

/** What was done to one object: its event as it is delivered, as JSON. */
export interface AuditRecord {
  readonly eventId: string;
  readonly eventType: string;
  readonly objectId: string;
  readonly event: string;
}

/** One event on its way to one destination. */
export interface Delivery {
  readonly sequence: number;
  readonly event: string;
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

/** A store that cannot be opened; the message is for the user. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
