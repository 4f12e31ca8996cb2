import type { EdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { readDocument } from '../document/read.ts';
import { MODULES } from '../modules/table.ts';
import { POLICY_FILE } from '../policy/document/read.ts';

/** A part of a configuration whose cost can be told: a module of a route, or a rule of its traffic policy. */
export interface Part {
  readonly kind: 'module' | 'rule';
  /** Module type, or the rule's name. */
  readonly name: string;
  readonly pointer: string;
  /** Phase of a rule. */
  readonly phase?: string;
  readonly route: string;
  /** Its own config, as written. */
  readonly own: unknown;
  /** The configuration with nothing but this part, and the same without it: the difference is its cost. */
  readonly alone: EdgeConfig;
  readonly without: EdgeConfig;
}

/** A module as its place in the edge file says it. */
export interface PolicyRule {
  readonly name?: string;
  readonly expressions?: readonly string[];
  readonly actions: readonly { readonly type: string }[];
}

/** A policy as written, by phase. */
export type RawPolicy = Readonly<Record<string, unknown>> & { readonly enabled?: unknown };

const RULE_PHASES = ['on_http_request', 'on_http_response', 'inbound', 'outbound'] as const;

/** All modules and rules of the HTTPS edges that are switched on, in the order in which they run. */
export function partsOf(config: EdgeConfig): readonly Part[] {
  return Object.entries(config.edges.https).flatMap(([edge, { routes }]) =>
    routes.flatMap((route, index) => {
      const pointer = pointerTo(pointerTo('/edges/https', edge) + '/routes', index);
      return MODULES.flatMap(({ type }) => partsOfModule(config, edge, index, route, type, pointer));
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
  if (type !== 'traffic_policy' || policy === undefined) return [module];
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

/** A rule that costs next to nothing and never applies: what a policy costs that holds one rule. */
const NEVER: PolicyRule = { expressions: ["req.method == ''"], actions: [{ type: 'deny' }] };

/** The rules of a policy as written, phase by phase. */
export function rulesOf(
  text: string,
): readonly { readonly phase: string; readonly at: number; readonly rule: PolicyRule }[] {
  const raw = rawPolicy(text);
  return RULE_PHASES.flatMap((phase) => {
    const rules = raw[phase];
    return Array.isArray(rules) ? rules.map((rule: PolicyRule, at) => ({ phase, at, rule })) : [];
  });
}

/** A policy that was checked before, as plain data. */
export function rawPolicy(text: string): RawPolicy {
  const { document } = readDocument({ name: 'policy', text }, POLICY_FILE);
  return (document?.value ?? {}) as RawPolicy;
}

/** What a route needs to take requests at all, and a backend where it has one: without, no response phase would run. */
function bareRoute(route: RouteConfig, type: string): Partial<RouteConfig> {
  const { match, match_type, backend } = route;
  const bare = { match, match_type } as Partial<RouteConfig>;
  return backend === undefined || type === 'backend' ? bare : { ...bare, backend };
}

/** The configuration with another route at one place. */
export function withRoute(config: EdgeConfig, edge: string, index: number, route: RouteConfig): EdgeConfig {
  const { https } = config.edges;
  const routes = https[edge]!.routes.with(index, route);
  return { ...config, edges: { ...config.edges, https: { ...https, [edge]: { ...https[edge]!, routes } } } };
}
