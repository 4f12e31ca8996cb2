/** Whether only `forward-internal` reaches a host. */
export function isInternalHost(host: string): boolean {
  return host.endsWith('.internal');
}

/** The hosts that `forward-internal` reaches, of edges whose parts may be unsound. */
export function internalHostsOf(
  edges: Iterable<{ readonly hostports?: readonly (string | undefined)[] | undefined } | undefined>,
): string[] {
  return Array.from(edges, (edge) => edge?.hostports ?? [])
    .flat()
    .map((hostport) => (hostport ?? '').replace(/:\d+$/, '').toLowerCase())
    .filter(isInternalHost);
}
