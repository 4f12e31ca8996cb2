/** Whether a host can only be reached by `forward-internal`. */
export function isInternalHost(host: string): boolean {
  return host.endsWith('.internal');
}

/** The hosts that `forward-internal` can reach; parts of the edges may be invalid. */
export function internalHostsOf(
  edges: Iterable<{ readonly hostports?: readonly (string | undefined)[] | undefined } | undefined>,
): string[] {
  return Array.from(edges, (edge) => edge?.hostports ?? [])
    .flat()
    .map((hostport) => (hostport ?? '').replace(/:\d+$/, '').toLowerCase())
    .filter(isInternalHost);
}
