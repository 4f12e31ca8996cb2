import { backendTable } from '../edge/backends.ts';
import { tablesOf } from '../edge/document/config_tables.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Endpoint } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import { chosenBackend } from './chosen_backend.ts';
import { recordedTunnel } from './recorded_tunnels.ts';
import { isConnected } from './counter_windows.ts';
import type { Choice, Decided } from './decided.ts';

/** Finds the backends from which one was chosen at random for a request. */
export function choicesOf(config: EdgeConfig): (exchange: Exchange) => Choice | null {
  const linked = backendTable(tablesOf(config).backends);
  const known = new Map<string, Choice | null>();
  const choice = (id: string): Choice | null => {
    const names = [...new Set(chosenAmong(config.backends, id))];
    if (names.length < 2) return null;
    const endpoints = names.flatMap((name): readonly Endpoint[] => {
      const { tunnel_group: group } = config.backends[name]!;
      return group === undefined ? (linked(name).fixed ?? []) : recordedTunnel(name, group.labels);
    });
    return { weights: JSON.stringify(below(config.backends, id)), endpoints };
  };
  return (exchange) => {
    const id = backendOf(exchange);
    if (id === null) return null;
    let found = known.get(id);
    if (found === undefined) known.set(id, (found = choice(id)));
    return found;
  };
}

/** The backend of the route that the request has reached, including internal endpoints; null if there is none. */
function backendOf(exchange: Exchange): string | null {
  if (exchange.inside !== null) return backendOf(exchange.inside);
  const { attempts, pipeline, verdicts } = exchange;
  if (attempts.length === 0 || pipeline === null) return null;
  for (let index = verdicts.length - 1; index >= 0; index--) {
    const verdict = verdicts[index];
    const id = verdict && chosenBackend(pipeline.filters[index]!.module, verdict.reason.detail);
    if (id) return id;
  }
  return null;
}

/** Names of the backends that may be tried first. */
function chosenAmong(backends: EdgeConfig['backends'], id: string): string[] {
  const { weighted, failover } = backends[id]!;
  if (weighted !== undefined) {
    const children = Object.entries(weighted).filter(([, weight]) => weight > 0);
    return children.flatMap(([name]) => chosenAmong(backends, name));
  }
  return failover === undefined ? [id] : failover.slice(0, 1).flatMap((name) => chosenAmong(backends, name));
}

function below(backends: EdgeConfig['backends'], id: string): unknown {
  const { weighted, failover } = backends[id]!;
  const children = weighted === undefined ? (failover ?? []) : Object.keys(weighted);
  return [id, weighted ?? null, children.map((name) => below(backends, name))];
}

/**
 * The part of a configuration that decides about the requests of a route: without other routes of its edge, and without
 * other edges. Counters and internal endpoints may depend on everything.
 */
export function scopesOf(config: EdgeConfig): (decided: Decided) => string {
  const known = new Map<string, string>();
  return ({ exchange }) => {
    const pointer = isConnected(exchange) ? '' : exchange.pipeline!.pointer;
    let scope = known.get(pointer);
    if (scope === undefined) known.set(pointer, (scope = JSON.stringify(scopeAt(config, pointer))));
    return scope;
  };
}

function scopeAt(config: EdgeConfig, pointer: string): unknown {
  const [, edge, index] = /^\/edges\/https\/([^/]+)\/routes\/(\d+)$/.exec(pointer) ?? [];
  const name = edge?.replaceAll('~1', '/').replaceAll('~0', '~');
  const own = name === undefined ? undefined : config.edges.https[name];
  if (own === undefined) return config;
  return { ...config, edges: { https: { [name!]: { ...own, routes: [own.routes[Number(index)]] } } } };
}
