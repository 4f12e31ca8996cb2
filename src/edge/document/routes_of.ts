import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { SoundConfig } from './report.ts';

export type SoundEdge = NonNullable<NonNullable<NonNullable<SoundConfig['edges']>['https']>[string]>;
export type SoundRoute = NonNullable<NonNullable<SoundEdge['routes']>[number]>;
export type SoundBackend = NonNullable<NonNullable<SoundConfig['backends']>[string]>;

interface Placed<Thing> {
  readonly name: string;
  readonly pointer: string;
  readonly thing: Thing;
}

/** The edges that are valid enough to check further. */
export function edgesOf(config: SoundConfig): Placed<SoundEdge>[] {
  return placed(config.edges?.https, '/edges/https');
}

/** The config of TLS edges; TCP edges have a subset. */
export type SoundStreamEdge = NonNullable<NonNullable<NonNullable<SoundConfig['edges']>['tls']>[string]>;

/** The TLS and TCP edges that are valid enough to check further. */
export function streamEdgesOf(
  config: SoundConfig,
): (Placed<SoundStreamEdge> & { readonly kind: 'tls' | 'tcp' })[] {
  return [
    ...placed(config.edges?.tls, '/edges/tls').map((edge) => Object.assign(edge, { kind: 'tls' as const })),
    ...placed<SoundStreamEdge>(config.edges?.tcp, '/edges/tcp').map((edge) =>
      Object.assign(edge, { kind: 'tcp' as const }),
    ),
  ];
}

/** Whether TLS ends at the edge. */
export function isTerminating({ tls_termination: termination }: SoundStreamEdge): boolean {
  if (termination === undefined) return true;
  return termination.enabled !== false && termination.terminate_at === 'edge';
}

/** The backends that are valid enough to check further. */
export function backendsOf(config: SoundConfig): Placed<SoundBackend>[] {
  return placed(config.backends, '/backends');
}

/** The routes of all edges, or of one; `name` is that of the edge. */
export function routesOf(config: SoundConfig, edges = edgesOf(config)): Placed<SoundRoute>[] {
  return edges.flatMap(({ name, pointer, thing }) =>
    (thing.routes ?? []).flatMap((route, index) =>
      route === undefined ? [] : [{ name, pointer: pointerTo(`${pointer}/routes`, index), thing: route }],
    ),
  );
}

function placed<Thing>(
  things: Readonly<Record<string, Thing | undefined>> | undefined,
  parent: string,
): Placed<Thing>[] {
  return Object.entries(things ?? {}).flatMap(([name, thing]) =>
    thing === undefined ? [] : [{ name, pointer: pointerTo(parent, name), thing }],
  );
}
