import { weakMemoize } from '../../caches/weak_memoize.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { ActionFacts } from '../../filters/facts.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../filters/table.ts';
import type { Report, SoundConfig } from './report.ts';
import type { SoundRoute } from './routes_of.ts';

/** A route with its parsed selector. */
export interface SelectedRoute {
  readonly route: SoundRoute;
  readonly pointer: string;
  /** Null for every host of the edge. */
  readonly host: string | null;
  readonly path: string;
}

/** Modules that decide who may come in. */
const MODULE_GATES = [...MODULE_FACTS.values()]
  .filter(({ login, addressLists }) => login === true || addressLists !== undefined)
  .map(({ type }) => type);
/** Such actions; what counts, or forwards, is not one. */
const GATES = namesOf(
  ({ guards, countsBy, ends: { how } }) =>
    guards === true && countsBy === undefined && !how.includes('forwarded'),
);
/** A policy with such an action may stop or redirect the request, too. */
const ENDS = namesOf(({ ends }) => ends.when !== 'never');

function namesOf(is: (facts: ActionFacts<never>) => boolean): RegExp {
  const types = [...ACTION_FACTS.values()].filter(is).map(({ type }) => type);
  return new RegExp(`\\b(?:${types.join('|')})\\b`);
}

/** The gate of a route: the key of a module, or the type of an action in its policy; null without one. */
const gateOf = weakMemoize((route: SoundRoute): { readonly type: string | null } => {
  const module = MODULE_GATES.find((type) => isOn(route, type));
  if (module !== undefined) return { type: module };
  return { type: isOn(route, 'traffic_policy') ? (GATES.exec(policyOf(route))?.[0] ?? null) : null };
});

function isOn(route: SoundRoute, type: string): boolean {
  const config = (route as Readonly<Record<string, { readonly enabled?: boolean } | undefined>>)[type];
  return config !== undefined && config.enabled !== false;
}

function policyOf({ traffic_policy: policy }: SoundRoute): string {
  return policy?.value ?? '';
}

/**
 * Warns about a gate that only an exact match has, where the same path with a slash at its end reaches the same backend
 * by a route without a gate: most applications treat `/admin/` like `/admin`.
 */
export function checkSlashes(routes: readonly SelectedRoute[], config: SoundConfig, report: Report): void {
  let places: ReadonlyMap<string, SelectedRoute> | null = null;
  for (const exact of routes) {
    const { route, host, path, pointer } = exact;
    if (route.match_type !== 'exact_path' || path.endsWith('/')) continue;
    const { type } = gateOf(route);
    if (type === null) continue;
    places ??= new Map(routes.map((each) => [placeOf(each.route.match_type!, each.host, each.path), each]));
    const other = routeTo(places, host, `${path}/`);
    if (other === null || !isOpen(other.route, route, config)) continue;
    const message = `${quoted(type)} applies to ${quoted(path)} only: ${quoted(`${path}/`)} reaches the route ${quoted(other.route.match!)} to the same backend`;
    report('edge.open_slash', `${pointer}/match`, message, {
      hint: `use match_type path_prefix, or add a route for ${quoted(`${path}/`)} with the same gate`,
    });
  }
}

function placeOf(type: string, host: string | null, path: string): string {
  return `${type} ${host ?? ''} ${path}`;
}

/** The route of a path: exact before prefix, longer before shorter, with host before without. */
function routeTo(
  places: ReadonlyMap<string, SelectedRoute>,
  host: string | null,
  path: string,
): SelectedRoute | null {
  const hosts = host === null ? [null] : [host, null];
  const at = (type: string, text: string): SelectedRoute | null => {
    for (const each of hosts) {
      const found = places.get(placeOf(type, each, text));
      if (found !== undefined) return found;
    }
    return null;
  };
  let found = at('exact_path', path);
  for (let length = path.length; found === null && length > 0; length--)
    found = at('path_prefix', path.slice(0, length));
  return found;
}

/** Whether a route leads to the backend of another one without a gate. */
function isOpen(route: SoundRoute, gated: SoundRoute, { backends }: SoundConfig): boolean {
  const id = route.backend?.backend_id;
  if (id === undefined || id !== gated.backend?.backend_id) return false;
  if (backends?.[id]?.http_response !== undefined || gateOf(route).type !== null) return false;
  return !isOn(route, 'traffic_policy') || !ENDS.test(policyOf(route));
}
