/** Maps host names to entries: exact names before wildcards, the longest wildcard first. */
export interface HostTable<Entry> {
  readonly find: (host: string) => Entry | null;
}

/** Builds the table; `*.shop.test` covers names of any depth below, not `shop.test` itself. */
export function hostTable<Entry>(
  entries: readonly (readonly [host: string, entry: Entry])[],
): HostTable<Entry> {
  const exact = new Map<string, Entry>();
  const wildcard = new Map<string, Entry>();
  for (const [host, entry] of entries) {
    if (host.startsWith('*.')) wildcard.set(host.slice(2), entry);
    else exact.set(host, entry);
  }
  return {
    find: (host) => {
      const named = exact.get(host);
      if (named !== undefined || wildcard.size === 0) return named ?? null;
      for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
        const covered = wildcard.get(host.slice(dot + 1));
        if (covered !== undefined) return covered;
      }
      return null;
    },
  };
}

const LOOPBACK = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether a host means this machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
