import { MODULE_FACTS } from '../../filters/table.ts';
import type { ShapeCache } from '../../config_file/shape.ts';
import type { SoundRoute } from './routes_of.ts';
import type { EdgeConfig, RouteConfig } from './schema.ts';
import type { SoundConfig } from './edge_shape.ts';

/**
 * What was found sound before: for whoever checks one configuration after the other, of which most parts are the same
 * objects and none ever changes. A part that passed its checks once is not checked again, and its warnings are not
 * told again; what depends on several parts (names, places that stand twice) is checked each time. Errors of parts may
 * depend on the part, on the name of the service and on which IP policies there are, and on nothing else.
 */
export interface ValidationCache {
  readonly shapes: ShapeCache;
  /** The configuration without the parts that were sound before, which leave holes where they stood. */
  readonly unchecked: (config: SoundConfig) => SoundConfig;
  /** To be told of a configuration without errors, and of what of it was unchecked. */
  readonly found: (config: EdgeConfig, unchecked: SoundConfig) => void;
}

/** The parts of which each is checked by itself. */
const MAPS = ['backends', 'tls_certificates', 'certificate_authorities'] as const;

/** The modules of a route; of one that is known, only what is beside it is checked. */
const modulesOf = (route: object): [type: string, config: object][] =>
  Object.entries(route).filter(([type, part]) => MODULE_FACTS.has(type) && typeof part === 'object');

export function validationCache(): ValidationCache {
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
  return {
    shapes: new WeakMap(),
    unchecked: (config) => {
      const { ip_policies: named = {}, edges = {} } = config;
      // Texts of policies name the service and IP policies: one that is new makes no sound text unsound.
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
          for (const [, config] of modulesOf(route)) sound.add(config);
        }
      }
    },
  };
}

function mapped<Part>(
  parts: Readonly<Record<string, Part | undefined>> | undefined,
  change: (part: Part | undefined) => Part | undefined,
): Record<string, Part | undefined> {
  return Object.fromEntries(Object.entries(parts ?? {}).map(([name, part]) => [name, change(part)]));
}
