/** Whether only `forward-internal` reaches a host. */
export function isInternalHost(host: string): boolean {
  return host.endsWith('.internal');
}

type SomeEdges = Iterable<{ readonly hostports?: readonly (string | undefined)[] | undefined } | undefined>;

/** The hosts that `forward-internal` reaches, of edges whose parts may be unsound. */
export function internalHostsOf(edges: SomeEdges): string[] {
  return hostsOf(edges).filter(isInternalHost);
}

/** The hosts of edges whose parts may be unsound, in lower case. */
export function hostsOf(edges: SomeEdges): string[] {
  return Array.from(edges, (edge) => edge?.hostports ?? [])
    .flat()
    .map((hostport) => (hostport ?? '').replace(/:\d+$/, '').toLowerCase());
}
