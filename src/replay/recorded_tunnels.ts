import { tunnelEndpoint } from '../edge/tunnels.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { brandingOf } from '../engine/branding.ts';
import type { World } from '../engine/contract.ts';
import type { Endpoint } from '../engine/questions.ts';
import { OFFLINE } from '../engine/module.ts';
import { ENGINE_REASONS } from '../engine/refusals.ts';
import type { LogRecord } from './log_record.ts';
import type { Unknowns } from './unknowns.ts';

/**
 * The world's answer to which tunnels a backend had: one if the request reached it, none if the log says so. Otherwise
 * it is a condition that the log lacks, the same for the same labels.
 */
export function recordedTunnels(config: EdgeConfig, unknowns: Unknowns): NonNullable<World['tunnels']> {
  const offlineCode = offlineCodeOf(config.service_name);
  return (backend, labels) => {
    const endpoints = recordedTunnel(backend, labels);
    const known = wasOnline(unknowns.record!, backend, config, offlineCode);
    const isOnline = known ?? unknowns.suppose(`agents of ${backend}`, `online: ${endpoints[0]!.host}`);
    return isOnline ? endpoints : OFFLINE;
  };
}

/** The error code of responses where no agent was online. */
export function offlineCodeOf(service: string): string {
  return brandingOf(service).errorCode(ENGINE_REASONS['backend.offline'].code);
}

/** The tunnels of a backend, as one that is compared by its labels. */
export function recordedTunnel(
  backend: string,
  labels: Readonly<Record<string, string>>,
): readonly Extract<Endpoint, { kind: 'static' }>[] {
  const host = Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(',');
  const options = { http2: false, proxyProtocol: null };
  return [{ ...tunnelEndpoint(backend, options), host }];
}

/** Null if the log does not have it. */
function wasOnline(
  { backends, outcome }: LogRecord,
  backend: string,
  { backends: configs }: EdgeConfig,
  offlineCode: string,
): boolean | null {
  if (backends !== undefined) {
    const { root, candidates } = backends;
    if (candidates.has(backend)) return true;
    return root !== null && alwaysAsks(root, backend, configs) ? false : null;
  }
  if (outcome === null) return null;
  // Other logs name no backend: it was the one that this configuration has.
  if (outcome.errorCode === offlineCode) return false;
  const isAnswered = outcome.answeredBy === 'upstream' || (outcome.errorCode === '' && outcome.status < 300);
  return isAnswered ? true : null;
}

/** Whether a backend is a candidate of another one whenever it is online: chance has no part in it. */
function alwaysAsks(from: string, backend: string, configs: EdgeConfig['backends']): boolean {
  const children = configs[from]?.failover ?? [];
  return from === backend || children.some((child) => alwaysAsks(child, backend, configs));
}
