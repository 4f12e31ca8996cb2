import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { MODULES } from '../../modules/table.ts';
import { keys } from './exchange_hits.ts';
import { impossibleReason } from './impossible_reasons.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { type CoveragePoint, pointsWith } from './point.ts';

/** That a TLS or TCP edge takes a connection, at each place where it listens. */
export function streamPoints({ edge, kind, id, pointer, route }: PlacedRoute): CoveragePoint[] {
  const { hostports } = route as unknown as { readonly hostports: readonly string[] };
  const taken: CoveragePoint = {
    id: `routes ${pointer}`,
    kind: 'routes',
    pointer,
    span: null,
    says: `${kind.toUpperCase()} edge ${edge} takes a connection`,
    routes: [pointer],
    impossible: null,
    seen: { by: 'hit', keys: [keys.route(id)] },
  };
  const places = hostports.map((hostport, index): CoveragePoint => {
    const at = pointerTo(`${pointer}/hostports`, index);
    const suffix = hostport.startsWith('*.') ? hostport.slice(1).toLowerCase() : null;
    return {
      id: `hosts ${at}`,
      kind: 'hosts',
      pointer: at,
      span: null,
      says: `a connection comes to ${hostport}`,
      routes: [],
      impossible: null,
      seen: {
        by: 'host',
        edge: id,
        test:
          suffix === null ? (asked) => asked === hostport.toLowerCase() : (asked) => asked.endsWith(suffix),
      },
    };
  });
  return [...places, taken];
}

/** That the modules which an HTTPS edge has itself run, and what they come to. */
export function edgeModulePoints({ edges }: EdgeConfig): CoveragePoint[] {
  return Object.entries(edges.https).flatMap(([name, edge]) => {
    const routes = edge.routes.map((_route, index) =>
      pointerTo(`${pointerTo('/edges/https', name)}/routes`, index),
    );
    return MODULES.flatMap(({ type, reasons }): CoveragePoint[] => {
      const config = edge[type as keyof typeof edge] as { readonly enabled?: boolean } | undefined;
      if (config === undefined || config.enabled === false || type === 'routes') return [];
      const at = pointerTo(pointerTo('/edges/https', name), type);
      const base = { pointer: at, span: null, routes } as const;
      const runs: CoveragePoint = {
        ...base,
        id: `modules ${at}`,
        kind: 'modules',
        says: `${type} of ${name} runs`,
        impossible: null,
        seen: { by: 'hit', keys: [keys.module(at)] },
      };
      const comes = Object.entries(reasons).map(([code, { says }]) => ({
        id: `reasons ${at} ${code}`,
        says: `${code} on ${name}: ${says}`,
        impossible: impossibleReason(code, config, null, 'https'),
        seen: { by: 'hit', keys: [keys.reason(at, code)] } as const,
      }));
      return pointsWith({ ...base, kind: 'reasons' as const }, comes).concat(runs);
    });
  });
}
