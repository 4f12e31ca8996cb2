import { lookup, promises } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** The look-ups of the system, or others in their place. */
export interface NameSource {
  /** All addresses of a name, by hosts file and DNS; rejects where there is none. */
  readonly addresses: (host: string) => Promise<readonly ResolvedAddress[]>;
  /** For how long DNS says that they hold, in ms; null where it does not know the name. */
  readonly lifetimeMs: (host: string) => Promise<number | null>;
}

export const SYSTEM_NAMES: NameSource = {
  addresses: (host) =>
    new Promise((resolve, reject) => {
      lookup(host, { all: true }, (error, found) => (error === null ? resolve(found) : reject(error)));
    }),
  lifetimeMs: async (host) => {
    const ask = (resolve: (host: string, options: { ttl: true }) => Promise<{ ttl: number }[]>) =>
      resolve(host, { ttl: true }).catch(() => []);
    const records = (await Promise.all([ask(promises.resolve4), ask(promises.resolve6)])).flat();
    return records.length === 0 ? null : Math.min(...records.map(({ ttl }) => ttl)) * 1_000;
  },
};

/** How long an answer is used: what DNS says within these bounds, the first of them where it says nothing. */
const UNKNOWN_MS = 10_000;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 300_000;
const MOST_NAMES = 1_024;

interface Entry {
  readonly addresses: readonly ResolvedAddress[];
  endMs: number;
  /** Which address is to be tried first by the next dial. */
  turn: number;
}

/**
 * Names of upstreams, looked up once in the time for which DNS says that the answer holds. The system's look-up knows
 * the hosts file but no times, DNS the times: addresses come from the one, how long they hold from the other.
 */
export function createAddresses(
  names: NameSource = SYSTEM_NAMES,
  nowMs: () => number = Date.now,
): LookupFunction {
  const known = new Map<string, Entry>();
  const asking = new Map<string, Promise<Entry>>();

  async function ask(host: string): Promise<Entry> {
    const addresses = await names.addresses(host);
    const entry: Entry = { addresses, endMs: nowMs() + UNKNOWN_MS, turn: 0 };
    if (known.size >= MOST_NAMES) known.clear();
    known.set(host, entry);
    void names.lifetimeMs(host).then(
      (lifetimeMs) => {
        if (lifetimeMs === null) return;
        entry.endMs = nowMs() + Math.max(SHORTEST_MS, Math.min(LONGEST_MS, lifetimeMs));
      },
      () => undefined,
    );
    return entry;
  }

  function entryOf(host: string): Promise<Entry> {
    const before = known.get(host);
    if (before !== undefined && before.endMs > nowMs()) return Promise.resolve(before);
    let asked = asking.get(host);
    if (asked === undefined) {
      asked = ask(host).finally(() => asking.delete(host));
      asking.set(host, asked);
    }
    return asked;
  }

  return (host, options, callback) => {
    if (isIP(host) !== 0) {
      const only = { address: host, family: isIP(host) };
      if (options.all === true) callback(null, [only]);
      else callback(null, only.address, only.family);
      return;
    }
    entryOf(host).then(
      (entry) => {
        // Each dial begins with another one, so that all of them share the load.
        const turn = entry.turn++ % entry.addresses.length;
        const ordered = [...entry.addresses.slice(turn), ...entry.addresses.slice(0, turn)];
        if (options.all === true) callback(null, ordered);
        else callback(null, ordered[0]!.address, ordered[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}
