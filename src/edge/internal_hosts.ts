/** Whether a host can only be reached by `forward-internal`. */
export function isInternalHost(host: string): boolean {
  return host.endsWith('.internal');
}

type SomeEdges = Iterable<{ readonly hostports?: readonly (string | undefined)[] | undefined } | undefined>;

/** The hosts that `forward-internal` can reach; parts of the edges may be invalid. */
export function internalHostsOf(edges: SomeEdges): string[] {
  return hostsOf(edges).filter(isInternalHost);
}

/** The hosts of edges, in lower case; parts of the edges may be invalid. */
export function hostsOf(edges: SomeEdges): string[] {
  return Array.from(edges, (edge) => edge?.hostports ?? [])
    .flat()
    .map((hostport) => (hostport ?? '').replace(/:\d+$/, '').toLowerCase());
}
