import { lookup, promises } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Name lookups: those of the system, or replacements. */
export interface NameSource {
  /** All addresses of a name, from the hosts file and DNS; rejects when there are none. */
  readonly addresses: (host: string) => Promise<readonly ResolvedAddress[]>;
  /** The lifetime of the records according to DNS, in ms; null for a name that DNS does not know. */
  readonly lifetimeMs: (host: string) => Promise<number | null>;
}

const SYSTEM_NAMES: NameSource = {
  addresses: (host) =>
    new Promise((resolve, reject) => {
      lookup(host, { all: true }, (error, found) => (error === null ? resolve(found) : reject(error)));
    }),
  lifetimeMs: (host) => dnsLifetimeMs(host, promises),
};

/** The shortest lifetime of the address records of a name, in ms; null for a name that DNS does not know. */
export async function dnsLifetimeMs(
  host: string,
  resolver: Pick<typeof promises, 'resolve4' | 'resolve6'>,
): Promise<number | null> {
  const [four, six] = await Promise.all([
    resolver.resolve4(host, { ttl: true }).catch(() => []),
    resolver.resolve6(host, { ttl: true }).catch(() => []),
  ]);
  const records = [...four, ...six];
  return records.length === 0 ? null : Math.min(...records.map(({ ttl }) => ttl)) * 1_000;
}

/**
 * How long a result is used: the lifetime from DNS within these bounds, or the minimum when there is none.
 */
const UNKNOWN_MS = 10_000;
const MIN_MS = 1_000;
const MAX_MS = 300_000;
const MAX_NAMES = 1_024;

/**
 * How long a connection waits for another look-up of a name whose last result has expired, and how long that result
 * may still be used. The system serves few look-ups at once: names without an answer keep all others waiting.
 */
const SLOW_MS = 250;
const MAX_STALE_MS = 300_000;

interface Entry {
  readonly addresses: readonly ResolvedAddress[];
  /** When it is looked up again. */
  endMs: number;
  /** When it may no longer be used. */
  lastMs: number;
  /** The address that the next connection tries first. */
  nextIndex: number;
}

interface Lookup {
  readonly entry: Promise<Entry>;
  /** Resolves if it takes long. */
  readonly slow: Promise<void>;
}

/** Looks up names, and keeps what it found. */
function keptEntries(names: NameSource, nowMs: () => number): (host: string) => Promise<Entry> {
  const known = new Map<string, Entry>();
  const asking = new Map<string, Lookup>();

  async function ask(host: string): Promise<Entry> {
    const addresses = await names.addresses(host);
    if (addresses.length === 0)
      throw Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' });
    const entry: Entry = { addresses, endMs: 0, lastMs: 0, nextIndex: 0 };
    holdFor(entry, UNKNOWN_MS);
    if (known.size >= MAX_NAMES) known.clear();
    known.set(host, entry);
    void learnLifetime(host, entry);
    return entry;
  }

  async function learnLifetime(host: string, entry: Entry): Promise<void> {
    const lifetimeMs = await names.lifetimeMs(host).catch(() => null);
    if (lifetimeMs !== null) holdFor(entry, Math.max(MIN_MS, Math.min(MAX_MS, lifetimeMs)));
  }

  function holdFor(entry: Entry, lifetimeMs: number): void {
    entry.endMs = nowMs() + lifetimeMs;
    entry.lastMs = entry.endMs + MAX_STALE_MS;
  }

  function begin(host: string): Lookup {
    const { promise: slow, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, SLOW_MS);
    const entry = ask(host).finally(() => {
      clearTimeout(timer);
      asking.delete(host);
    });
    const begun = { entry, slow };
    asking.set(host, begun);
    return begun;
  }

  /** The last result of a name whose look-up has failed, unless the name no longer exists. */
  function afterFailure(host: string, before: Entry, error: NodeJS.ErrnoException): Entry {
    if (error.code === 'ENOTFOUND') {
      known.delete(host);
      throw error;
    }
    before.endMs = nowMs() + MIN_MS;
    return before;
  }

  function entryOf(host: string): Promise<Entry> {
    const before = known.get(host);
    const now = nowMs();
    if (before !== undefined && before.endMs > now) return Promise.resolve(before);
    const { entry, slow } = asking.get(host) ?? begin(host);
    if (before === undefined || before.lastMs <= now) return entry;
    const renewed = entry.catch((error: NodeJS.ErrnoException) => afterFailure(host, before, error));
    return Promise.race([renewed, slow.then(() => before)]);
  }

  return entryOf;
}

/**
 * Addresses of upstream names, looked up once per lifetime of their DNS records. The system's lookup knows
 * the hosts file but no lifetimes, DNS knows the lifetimes: so both are asked. While a look-up is slow or fails, the
 * last result is used.
 */
export function createAddresses(
  names: NameSource = SYSTEM_NAMES,
  nowMs: () => number = () => performance.now(),
): LookupFunction {
  const entryOf = keptEntries(names, nowMs);

  /** All addresses, rotated by one each time, so that they share the load. */
  async function rotated(host: string): Promise<ResolvedAddress[]> {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    const entry = await entryOf(host);
    const nextIndex = entry.nextIndex++ % entry.addresses.length;
    return [...entry.addresses.slice(nextIndex), ...entry.addresses.slice(0, nextIndex)];
  }

  async function answer(host: string, all: boolean, callback: Parameters<LookupFunction>[2]): Promise<void> {
    let found: ResolvedAddress[];
    try {
      found = await rotated(host);
    } catch (error) {
      callback(error as NodeJS.ErrnoException, '');
      return;
    }
    if (all) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  }

  return (host, options, callback) => void answer(host, options.all === true, callback);
}
