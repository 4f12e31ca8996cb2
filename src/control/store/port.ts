/**
 * The storage interface of the management API. It is small on purpose: an adapter for another database only has
 * to pass the suite in `test/control/store/contract.ts`. All methods are asynchronous, because a database may be
 * remote.
 */
export interface Store {
  /** Runs reads on one consistent snapshot of the store. */
  read<Answer>(work: (view: View) => Promise<Answer>): Promise<Answer>;
  /**
   * Runs `work` exclusively: all of its writes are durable when the promise is fulfilled, and none is kept if
   * `work` throws. Throws `ClaimTaken` from `work` if a claim belongs to another object.
   */
  write<Answer>(work: (transaction: Transaction) => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

/** One object of the management API. */
export interface StoredObject {
  /** Sortable by time: lists are ordered by id. */
  readonly id: string;
  readonly kind: string;
  /** The parent object; removing it removes this object too. */
  readonly parent: string | null;
  readonly body: Readonly<Record<string, unknown>>;
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
  get(id: string): Promise<StoredObject | null>;
  list(kind: string, page: Page): Promise<readonly StoredObject[]>;
  /** Every object of the given kinds, oldest first. */
  all(kinds: readonly string[]): Promise<readonly StoredObject[]>;
  /** Ids of the objects that refer to this one. */
  referrers(id: string): Promise<readonly string[]>;
  /** Id of the object that holds a claim. */
  claimant(claim: Claim): Promise<string | null>;
  /** Audit records, newest first. */
  audit(limit: number): Promise<readonly AuditRecord[]>;
  /** Oldest pending deliveries to a destination. */
  waiting(destination: string, limit: number): Promise<readonly Delivery[]>;
  waitingCount(destination: string): Promise<number>;
  setting(name: string): Promise<string | null>;
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
  set(name: string, value: string): Promise<void>;
}

/** One change of an object: its event as delivered, as JSON. */
interface AuditRecord {
  readonly eventId: string;
  readonly eventType: string;
  readonly objectId: string;
  readonly event: string;
}

/** A pending delivery of one event to one destination. */
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

/** The store cannot be opened; the message is for the user. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
