/** Whether a host can only be reached by `forward-internal`. */
export function isInternalHost(host: string): boolean {
  return host.endsWith('.internal');
}

type SomeEdge = { readonly hostports?: readonly (string | undefined)[] | undefined } | undefined;
type SomeEdges = Iterable<SomeEdge>;

/** The hosts that `forward-internal` can reach; parts of the edges may be invalid. */
export function internalHostsOf(edges: SomeEdges): string[] {
  return hostsOf(edges).filter(isInternalHost);
}

/** The URLs, each with its port, of the TLS and TCP edges that `forward-internal` can reach. */
export function internalAddressesOf({
  tls = {},
  tcp = {},
}: {
  readonly tls?: Readonly<Record<string, SomeEdge>> | undefined;
  readonly tcp?: Readonly<Record<string, SomeEdge>> | undefined;
}): string[] {
  const kinds = [
    ['tls', tls],
    ['tcp', tcp],
  ] as const;
  return kinds.flatMap(([kind, edges]) =>
    Object.values(edges)
      .flatMap((edge) => edge?.hostports ?? [])
      .flatMap((hostport = '') => {
        const address = hostport.toLowerCase();
        return isInternalHost(address.replace(/:\d+$/, '')) ? [`${kind}://${address}`] : [];
      }),
  );
}

/** The hosts of edges, in lower case and without a trailing dot; parts of the edges may be invalid. */
export function hostsOf(edges: SomeEdges): string[] {
  return Array.from(edges, (edge) => edge?.hostports ?? [])
    .flat()
    .map((hostport) => (hostport ?? '').replace(/\.?(?::\d+)?$/, '').toLowerCase());
}
