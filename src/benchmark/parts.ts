import type { EdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { readDocument } from '../config_file/read.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import { POLICY_FILE } from '../policy/document/read.ts';

/** A part of a configuration whose cost is measured: a module of a route, or a rule of its traffic policy. */
export interface Part {
  readonly kind: 'module' | 'rule';
  /** Module type, or name of the rule. */
  readonly name: string;
  readonly pointer: string;
  /** Phase of a rule. */
  readonly phase?: string;
  readonly route: string;
  /** Its own config, as written. */
  readonly own: unknown;
  /** The configuration with only this part, and the same without it: the difference is its cost. */
  readonly alone: EdgeConfig;
  readonly without: EdgeConfig;
}

/** A rule of a policy, as written. */
export interface PolicyRule {
  readonly name?: string;
  readonly expressions?: readonly string[];
  readonly actions: readonly { readonly type: string }[];
}

/** A policy as written, by phase. */
export type RawPolicy = Readonly<Record<string, unknown>> & { readonly enabled?: unknown };

const RULE_PHASES = ['on_http_request', 'on_http_response', 'inbound', 'outbound'] as const;

/** All enabled modules and rules of the HTTPS edges, in execution order. */
export function partsOf(config: EdgeConfig): readonly Part[] {
  return Object.entries(config.edges.https).flatMap(([edge, { routes }]) =>
    routes.flatMap((route, index) => {
      const pointer = pointerTo(pointerTo('/edges/https', edge) + '/routes', index);
      return Array.from(MODULE_FACTS.keys()).flatMap((type) =>
        partsOfModule(config, edge, index, route, type, pointer),
      );
    }),
  );
}

function partsOfModule(
  config: EdgeConfig,
  edge: string,
  index: number,
  route: RouteConfig,
  type: string,
  routePointer: string,
): Part[] {
  const own = route[type as keyof RouteConfig] as { readonly enabled: boolean } | undefined;
  if (own === undefined || !own.enabled) return [];
  const pointer = pointerTo(routePointer, type);
  const with_ = (modules: object) =>
    withRoute(config, edge, index, { ...bareRoute(route, type), ...modules } as RouteConfig);
  const without = with_({});
  const place = { route: `${edge} ${route.match}`, pointer };
  const module: Part = { kind: 'module', name: type, own, ...place, alone: with_({ [type]: own }), without };
  const policy = route.traffic_policy;
  if (MODULE_FACTS.get(type)!.runsActions !== true || policy === undefined) return [module];
  const policyOf = (raw: object) => with_({ traffic_policy: { ...policy, value: JSON.stringify(raw) } });
  return [
    module,
    ...rulesOf(policy.value).map(({ phase, at, rule }): Part => ({
      kind: 'rule',
      name: rule.name ?? `${phase}[${at}]`,
      own: rule,
      phase,
      route: place.route,
      pointer: pointerTo(`${pointer}/value/${phase}`, at),
      alone: policyOf({ [phase]: [rule] }),
      without: policyOf({ [phase]: [NEVER] }),
    })),
  ];
}

/** A rule that costs almost nothing and never applies: gives the base cost of a policy with one rule. */
const NEVER: PolicyRule = { expressions: ["req.method == ''"], actions: [{ type: 'deny' }] };

/** The rules of a policy as written, by phase. */
export function rulesOf(
  text: string,
): readonly { readonly phase: string; readonly at: number; readonly rule: PolicyRule }[] {
  const raw = rawPolicy(text);
  return RULE_PHASES.flatMap((phase) => {
    const rules = raw[phase];
    return Array.isArray(rules) ? rules.map((rule: PolicyRule, at) => ({ phase, at, rule })) : [];
  });
}

/** A checked policy as plain data. */
export function rawPolicy(text: string): RawPolicy {
  const { document } = readDocument({ name: 'policy', text }, POLICY_FILE);
  return (document?.value ?? {}) as RawPolicy;
}

/**
 * The minimum of a route that accepts requests, with its backend if it has one: without a backend no response
 * phase would run.
 */
function bareRoute(route: RouteConfig, type: string): Partial<RouteConfig> {
  const { match, match_type, backend } = route;
  const bare = { match, match_type } as Partial<RouteConfig>;
  return backend === undefined || Object.hasOwn({ backend }, type) ? bare : { ...bare, backend };
}

/** The configuration with one route replaced. */
export function withRoute(config: EdgeConfig, edge: string, index: number, route: RouteConfig): EdgeConfig {
  const { https } = config.edges;
  const routes = https[edge]!.routes.with(index, route);
  return { ...config, edges: { ...config.edges, https: { ...https, [edge]: { ...https[edge]!, routes } } } };
}
