import { MODULE_FACTS } from '../../filters/table.ts';
import { type SharedChecks, sharedChecks } from '../../policy/document/shared_checks.ts';
import type { ShapeCache } from '../../config_file/shape.ts';
import { rememberShaped } from '../../config_file/validate.ts';
import type { SoundRoute } from './routes_of.ts';
import type { EdgeConfig, RouteConfig } from './schema.ts';
import { type SoundConfig, EDGE_SHAPE } from './report.ts';

/**
 * What was found valid before, for successive configurations that share most objects and never change them. A valid
 * part is not checked again, and its warnings are not repeated; what depends on several parts (names, duplicates) is
 * checked each time. Errors of a part may only depend on the part, the service name and the set of IP policies.
 */
export interface ValidationCache {
  readonly shapes: ShapeCache;
  /** Checks a large policy once for all routes that have it. */
  readonly policies: SharedChecks;
  /** The configuration without the parts that were valid before, which are left undefined. */
  readonly unchecked: (config: SoundConfig) => SoundConfig;
  /** Records a configuration without errors, and the part of it that was unchecked. */
  readonly found: (config: EdgeConfig, unchecked: SoundConfig) => void;
}

/** The maps whose members are checked independently. */
const MAPS = ['backends', 'tls_certificates', 'certificate_authorities'] as const;

/** The modules of a route; for a cached one, only the rest of its route is checked. */
const modulesOf = (route: object): [type: string, config: object][] =>
  Object.entries(route).filter(([type, part]) => MODULE_FACTS.has(type) && typeof part === 'object');

/** A cache, also of what the check of an accepted configuration has found valid. */
export function validationCache(accepted?: EdgeConfig): ValidationCache {
  const shapes: ShapeCache = new WeakMap();
  let sound = new WeakSet<object>();
  let service: string | undefined;
  let policies: ReadonlySet<string> = new Set();
  const hole = <Part extends object>(part: Part | undefined): Part | undefined =>
    part === undefined || sound.has(part) ? undefined : part;
  const routeHole = (route: SoundRoute | undefined): SoundRoute | undefined => {
    if (route === undefined || sound.has(route)) return undefined;
    const known = modulesOf(route).filter(([, config]) => sound.has(config));
    return known.length === 0
      ? route
      : { ...route, ...Object.fromEntries(known.map(([type]) => [type, undefined])) };
  };
  const cache: ValidationCache = {
    shapes,
    policies: sharedChecks(),
    unchecked: (config) => {
      const { ip_policies: named = {}, edges = {} } = config;
      // Policies refer to the service name and IP policies; a new IP policy does not invalidate a valid text.
      if (
        config.service_name !== service ||
        !Array.from(policies).every((name) => Object.hasOwn(named, name))
      )
        sound = new WeakSet();
      const https = mapped(edges.https, (edge) => edge && { ...edge, routes: edge.routes?.map(routeHole) });
      const streams = { tls: mapped(edges.tls, hole), tcp: mapped(edges.tcp, hole) };
      const maps = MAPS.map((name) => [name, mapped<object>(config[name], hole)] as const);
      return {
        ...config,
        ...Object.fromEntries(maps),
        edges: { ...edges, https, ...streams },
      };
    },
    found: (config, unchecked) => {
      service = config.service_name;
      policies = new Set(Object.keys(config.ip_policies));
      const { tls = {}, tcp = {} } = unchecked.edges ?? {};
      const maps = [tls, tcp, ...MAPS.map((name) => unchecked[name] ?? {})];
      const parts = maps.flatMap((map) => Object.values<object | undefined>(map));
      for (const part of parts) if (part !== undefined) sound.add(part);
      for (const { routes } of Object.values(config.edges.https)) {
        for (const route of routes as readonly RouteConfig[]) {
          if (sound.has(route)) continue;
          sound.add(route);
          for (const [, own] of modulesOf(route)) sound.add(own);
        }
      }
    },
  };
  if (accepted !== undefined) {
    rememberShaped(EDGE_SHAPE, accepted, shapes);
    cache.found(accepted, accepted);
  }
  return cache;
}

function mapped<Part>(
  parts: Readonly<Record<string, Part | undefined>> | undefined,
  change: (part: Part | undefined) => Part | undefined,
): Record<string, Part | undefined> {
  return Object.fromEntries(Object.entries(parts ?? {}).map(([name, part]) => [name, change(part)]));
}
