import { pointerTo } from '../diagnostics/diagnostic.ts';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { ModuleFacts } from '../filters/facts.ts';
import type { EdgeKind } from '../filters/phase.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import { keys } from './exchange_hits.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { type CoveragePoint, pointsWith } from './point.ts';

/** Points: a TLS or TCP edge takes a connection, on each of its hostports. */
export function streamPoints({ edge, kind, id, pointer, route }: PlacedRoute): CoveragePoint[] {
  const { hostports } = route as unknown as { readonly hostports: readonly string[] };
  const taken: CoveragePoint = {
    id: `routes ${pointer}`,
    kind: 'routes',
    pointer,
    span: null,
    message: `${kind.toUpperCase()} edge ${edge} takes a connection`,
    about: edge,
    routes: [pointer],
    impossible: null,
    seen: { by: 'hit', keys: [keys.route(id)] },
  };
  const places = hostports.map((hostport, index): CoveragePoint => {
    const at = pointerTo(`${pointer}/hostports`, index);
    const isInternal = isInternalHost(hostport.replace(/:\d+$/, '').toLowerCase());
    const suffix = hostport.startsWith('*.') ? hostport.slice(1).toLowerCase() : null;
    return {
      id: `hosts ${at}`,
      kind: 'hosts',
      pointer: at,
      span: null,
      message: `a connection ${isInternal ? 'is forwarded to' : 'reaches'} ${hostport}`,
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

/** Points: the modules of an HTTPS edge itself run and give their results. */
export function edgeModulePoints({ edges }: EdgeConfig): CoveragePoint[] {
  return Object.entries(edges.https).flatMap(([name, edge]) => {
    const routes = edge.routes.map((_route, index) =>
      pointerTo(`${pointerTo('/edges/https', name)}/routes`, index),
    );
    return Array.from(MODULE_FACTS.values()).flatMap((module): CoveragePoint[] => {
      const { type, reasons, place } = module;
      if (place !== 'edge') return [];
      const config = edge[type as keyof typeof edge] as { readonly enabled?: boolean } | undefined;
      if (config === undefined || config.enabled === false) return [];
      const at = pointerTo(pointerTo('/edges/https', name), type);
      const base = { pointer: at, span: null, routes } as const;
      const runs: CoveragePoint = {
        ...base,
        id: `modules ${at}`,
        kind: 'modules',
        message: `${type} of ${name} runs`,
        impossible: null,
        seen: { by: 'hit', keys: [keys.module(at)] },
      };
      const comes = Object.entries(reasons).map(([code, { message }]) => {
        const { impossible, untestable } = limitsOf(module, code, config, 'https');
        const id = `reasons ${at} ${code}`;
        const seen = { by: 'hit', keys: [keys.reason(at, code)] } as const;
        return { id, message: `${code} on ${name}: ${message}`, impossible, untestable, seen };
      });
      return pointsWith({ ...base, kind: 'reasons' as const }, comes).concat(runs);
    });
  });
}

/** Why a module never gives a reason, or not in a case, judging by its config alone. */
export function limitsOf(
  { type, cannotHappen, notInCases }: ModuleFacts<never>,
  code: string,
  config: object,
  edgeKind: EdgeKind,
): Required<Pick<CoveragePoint, 'impossible' | 'untestable'>> {
  const reason = code.slice(type.length + 1);
  return {
    impossible: cannotHappen?.(reason, config as never, edgeKind) ?? null,
    untestable: notInCases?.(reason, config as never, edgeKind) ?? null,
  };
}
