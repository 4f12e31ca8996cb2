import { routeName } from '../../edge/compile_https.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import type { BackendNode, Overview, RouteNode, StreamNode } from '../wire_overview.ts';
import type { InspectorContext } from './context.ts';
import type { Revisions } from './revisions.ts';
import { quantile } from './seconds.ts';

const MAX_STOPS = 100;
/** A configuration with more routes shows those that had requests. */
const MAX_NODES = 2_000;

/** Figures of all traffic since the start, on the graph of the active configuration. */
export function overviewOf({ watch, store, nowMs }: InspectorContext, revisions: Revisions): Overview {
  const { runtime, locate } = watch.edge;
  const { config } = runtime.current();
  const placeOf = (pointer: string | null) => (pointer === null ? null : locate(pointer));
  const stops = [...watch.tallies.stops.values()].sort((a, b) => b.count - a.count).slice(0, MAX_STOPS);
  return {
    revision: runtime.revision(),
    nowMs: nowMs(),
    routes: routeNodes(config, watch.tallies, placeOf),
    streams: streamNodes(config, watch.tallies),
    backends: backendNodes(config, watch.tallies),
    stops: stops.map(({ by, code, count, pointer }) => ({ by, code, count, place: placeOf(pointer) })),
    seconds: watch.seconds.past(),
    latency: watch.seconds.latency(),
    states: Array.from(watch.tallies.series.values(), (series) => ({
      ...series,
      place: placeOf(series.pointer),
    })),
    revisions: revisions.list(),
    kept: store.figures(),
  };
}

type Tallies = InspectorContext['watch']['tallies'];
type PlaceOf = (pointer: string | null) => RouteNode['place'];

function routeNodes(config: EdgeConfig, { routes }: Tallies, placeOf: PlaceOf): RouteNode[] {
  const all = Object.entries(config.edges.https).flatMap(([edge, { routes: list, hostports, ...modules }]) =>
    list.map((route, index): RouteNode => {
      const pointer = pointerTo(`${pointerTo('/edges/https', edge)}/routes`, index);
      const tally = routes.get(routeName(edge, route));
      const has = (type: string): boolean => type in route || type in modules;
      const filters = [...MODULE_FACTS].filter(
        ([type, { choosesBackend }]) => has(type) && choosesBackend === undefined,
      );
      const quantiles = tally === undefined || tally.hits === 0 ? null : tally.latency;
      return {
        edge,
        hosts: hostports,
        match: route.match,
        matchType: route.match_type,
        pointer,
        place: placeOf(pointer),
        filters: filters.map(([module]) => ({
          module,
          pointer:
            module in route ? pointerTo(pointer, module) : pointerTo(pointerTo('/edges/https', edge), module),
          stops: tally?.stops.get(module) ?? 0,
        })),
        backends: route.backend === undefined ? [] : reachable(route.backend.backend_id, config),
        hits: tally?.hits ?? 0,
        classes: tally?.classes ?? [0, 0, 0, 0, 0, 0],
        p50Ms: quantiles === null ? null : quantile(quantiles, 0.5),
        p99Ms: quantiles === null ? null : quantile(quantiles, 0.99),
      };
    }),
  );
  return all.length <= MAX_NODES ? all : all.filter(({ hits }) => hits > 0).slice(0, MAX_NODES);
}

/** A backend and those in it. */
function reachable(id: string, { backends }: EdgeConfig): string[] {
  const config = backends[id];
  const children = config?.weighted === undefined ? (config?.failover ?? []) : Object.keys(config.weighted);
  return [id, ...children.flatMap((child) => reachable(child, { backends } as EdgeConfig))];
}

function streamNodes({ edges }: EdgeConfig, { streams }: Tallies): StreamNode[] {
  return (['tls', 'tcp'] as const).flatMap((kind) =>
    Object.entries(edges[kind])
      .slice(0, MAX_NODES)
      .map(([edge, { hostports }]) => {
        const tally = streams.get(`${kind} ${edge}`);
        return {
          edge,
          kind,
          addresses: hostports,
          connections: tally?.connections ?? 0,
          stops: tally?.stops ?? 0,
          bytesIn: tally?.bytesIn ?? 0,
          bytesOut: tally?.bytesOut ?? 0,
        };
      }),
  );
}

function backendNodes({ backends }: EdgeConfig, tallies: Tallies): BackendNode[] {
  return Object.entries(backends)
    .slice(0, MAX_NODES)
    .map(([id, config]) => {
      const tally = tallies.backends.get(id);
      return {
        id,
        addresses: addressesOf(config),
        attempts: tally?.attempts ?? 0,
        failures: tally?.failures ?? {},
        health: tally === undefined ? 'unknown' : tally.isUp ? 'up' : 'down',
        lastFailure: tally?.lastFailure ?? null,
      };
    });
}

function addressesOf(config: EdgeConfig['backends'][string]): string[] {
  if (config.static !== undefined) {
    const { address, tls } = config.static;
    return [tls?.enabled === true ? `https://${address}` : address];
  }
  if (config.tunnel_group !== undefined)
    return [
      Object.entries(config.tunnel_group.labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(','),
    ];
  return config.http_response === undefined ? [] : [`${config.http_response.status_code}`];
}
