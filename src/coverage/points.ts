import { pointerTo } from '../diagnostics/diagnostic.ts';
import { readMatch } from '../edge/router.ts';
import type { EdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import type { ModuleFacts } from '../filters/facts.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import { backendPoints } from './backend_points.ts';
import { expressionPoints } from './expression_points.ts';
import { addressPoints, impossibleAddress, ipModules, ipRulePoints } from './ip_points.ts';
import { type CoveragePoint, pointsWith } from './point.ts';
import { expressionLimits, ipActions, policyPoints } from './policy_points.ts';
import { type PlacedRoute, placedRoutes, placedStreams } from './placed_routes.ts';
import { edgeModulePoints, limitsOf, streamPoints } from './stream_points.ts';
import { keys } from './exchange_hits.ts';
import type { Recorder } from './recorder.ts';

/**
 * Everything in a configuration that a case can cover. The recorder must have observed the compilation of the
 * edge.
 */
export function pointsOf(
  config: EdgeConfig,
  { expressions }: Pick<Recorder, 'expressions'>,
): CoveragePoint[] {
  const streams = placedStreams(config);
  const routes = [...placedRoutes(config), ...streams];
  return [
    ...hostPoints(config),
    ...edgeModulePoints(config),
    ...routes.flatMap((placed) => [
      ...(placed.kind === 'https' ? routePoints(placed, config) : streamPoints(placed)),
      ...modulePoints(placed, config),
      ...policyPoints(placed, config),
      ...backendPoints(placed, config),
    ]),
    ...ipRulePoints(routes, config),
    ...addressPoints([...ipModules(routes, config), ...ipActions(routes, config)]),
    ...expressionPoints(expressions, routes, expressionLimits(routes, config)),
  ];
}

function hostPoints({ edges }: EdgeConfig): CoveragePoint[] {
  return Object.entries(edges.https).flatMap(([edge, { hostports }]) =>
    hostports.map((hostport, index): CoveragePoint => {
      const host = hostport.replace(/:\d+$/, '').toLowerCase();
      const isInside = host.endsWith('.internal');
      const pointer = pointerTo(`${pointerTo('/edges/https', edge)}/hostports`, index);
      return {
        id: `hosts ${pointer}`,
        kind: 'hosts',
        pointer,
        span: null,
        message: `a request ${isInside ? 'is forwarded to' : 'is sent to'} ${host}`,
        routes: [],
        impossible: null,
        seen: { by: 'host', edge, test: hostTest(hostport) },
      };
    }),
  );
}

/** Tests whether a host matches a hostport, which may have a wildcard. */
function hostTest(hostport: string): (host: string) => boolean {
  const host = hostport.replace(/:\d+$/, '').toLowerCase();
  const suffix = host.startsWith('*.') ? host.slice(1) : null;
  return suffix === null ? (asked) => asked === host : (asked) => asked.endsWith(suffix);
}

/**
 * Points: a route is taken, and requests reach the boundaries of its path: the path itself, and the nearest one
 * outside.
 */
function routePoints({ edge, pointer, id, route }: PlacedRoute, { edges }: EdgeConfig): CoveragePoint[] {
  const tests = (edges.https[edge]?.hostports ?? []).map((hostport) => hostTest(hostport));
  const isHost = (host: string) => tests.some((test) => test(host));
  const { path } = readMatch(route.match);
  const base = { span: null, routes: [pointer], impossible: null } as const;
  const at = pointerTo(pointer, 'match');
  const points: CoveragePoint[] = [
    {
      ...base,
      id: `routes ${pointer}`,
      kind: 'routes',
      pointer,
      message: `route ${route.match} is taken`,
      about: route.match,
      seen: { by: 'hit', keys: [keys.route(id)] },
    },
    {
      ...base,
      id: `paths ${pointer} at`,
      kind: 'paths',
      pointer: at,
      message: `a request is for ${path} exactly`,
      seen: { by: 'path', edge, isHost, under: path, test: (asked) => asked === path },
    },
  ];
  if (route.match_type === 'exact_path') {
    points.push({
      ...base,
      id: `paths ${pointer} below`,
      kind: 'paths',
      pointer: at,
      routes: [],
      message: `a request is for more than ${path}`,
      seen: {
        by: 'path',
        edge,
        isHost,
        under: path,
        test: (asked) => asked.length > path.length && asked.startsWith(path),
      },
    });
  } else {
    points.push({
      ...base,
      id: `paths ${pointer} below`,
      kind: 'paths',
      pointer: at,
      message: `a request is for a path below ${path}`,
      seen: {
        by: 'path',
        edge,
        isHost,
        under: path,
        test: (asked) => asked.length > path.length && asked.startsWith(path),
      },
    });
    if (path !== '/')
      points.push({
        ...base,
        id: `paths ${pointer} beside`,
        kind: 'paths',
        pointer: at,
        routes: [],
        message: `a request is for a path just beside ${path}, such as ${besidePath(path)}`,
        seen: { by: 'path', edge, isHost, under: besidePath(path), test: (asked) => isBeside(asked, path) },
      });
  }
  return points;
}

/** The path with all but the last character in common. */
export function besidePath(path: string): string {
  return path.slice(0, -1);
}

/** Whether a path equals another up to its last character and then differs. */
function isBeside(asked: string, path: string): boolean {
  return !asked.startsWith(path) && asked.startsWith(besidePath(path));
}

/**
 * Points: each module of a route runs and gives each of its reasons; rules belong to the modules that have
 * them.
 */
function modulePoints(placed: PlacedRoute, edge: EdgeConfig): CoveragePoint[] {
  const { pointer, route, kind: edgeKind } = placed;
  const points: CoveragePoint[] = [];
  for (const module of MODULE_FACTS.values()) {
    const config = route[module.type as keyof RouteConfig] as { readonly enabled: boolean } | undefined;
    if (config === undefined || !config.enabled) continue;
    const at = pointerTo(pointer, module.type);
    const base = { pointer: at, span: null, routes: [pointer] } as const;
    points.push({
      ...base,
      id: `modules ${at}`,
      kind: 'modules',
      message: `${module.type} of ${route.match} runs`,
      impossible: null,
      seen: { by: 'hit', keys: [keys.module(at)] },
    });
    // The possible reasons of a policy are determined by the policy, and a backend's points are its leaves.
    if (module.runsActions === true || module.references?.some(({ kind: of }) => of === 'backend') === true)
      continue;
    const kind = module.lastsUntilSuccess === true ? 'breakers' : 'reasons';
    const reasons = Object.entries(module.reasons).map(([code, { message }]) => {
      const limits = limitsOf(module, code, config, edgeKind);
      return {
        id: `${kind} ${at} ${code}`,
        message: `${code} on ${route.match}: ${message}`,
        impossible: impossibleAddress(code, module, placed, edge) ?? limits.impossible,
        untestable: limits.untestable,
        seen: { by: 'hit', keys: [keys.reason(at, code)] } as const,
      };
    });
    points.push(...pointsWith({ ...base, kind }, reasons), ...patternPoints(at, route.match, module, config));
  }
  return points;
}

function patternPoints(
  at: string,
  match: string,
  { patternLists }: ModuleFacts<never>,
  config: object,
): CoveragePoint[] {
  return Object.entries(patternLists?.(config as never) ?? {}).flatMap(([list, patterns]) =>
    patterns.map((pattern, index): CoveragePoint => {
      const pointer = pointerTo(pointerTo(at, list), index);
      return {
        id: `rules ${pointer}`,
        kind: 'rules',
        pointer,
        span: null,
        message: `${list}[${index}] of ${match} matches: ${pattern}`,
        about: `${list}[${index}]`,
        routes: [at.slice(0, at.lastIndexOf('/'))],
        impossible: null,
        seen: { by: 'hit', keys: [keys.rule(pointer)] },
      };
    }),
  );
}
