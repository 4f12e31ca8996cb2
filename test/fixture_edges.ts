import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { usable } from '../src/edgeproof.ts';
import { checkWholeEdge } from '../src/edge/semantic_checks.ts';
import type { EdgeConfig } from '../src/edge/document/schema.ts';
import { onePolicy } from './one_route.ts';

const fixture = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url)), 'utf8');
const PARTNERS = JSON.stringify(fixture('every_module/partners.pem'));

/** A policy without the phase of TLS and TCP edges. */
function requestPolicy(text: string): object {
  const { on_tcp_connect: _phase, ...rest } = parse(text) as Record<string, unknown>;
  return rest;
}

/** Every edge and every policy of the fixtures. */
export const FIXTURE_EDGES: Readonly<Record<string, () => unknown>> = {
  sample: () => parse(fixture('sample/edge.yaml')),
  every_module: () =>
    parse(fixture('every_module/edge.yaml').replace('ca_file: partners.pem', `ca_pem: ${PARTNERS}`)),
  ...Object.fromEntries(
    [
      'canary.yaml',
      'dry_run_ips.yaml',
      'every_action.yaml',
      'redirect_to_https.yaml',
      'rewrite_then_limit.yaml',
      'sample.json',
    ].map((name) => [name, () => onePolicy(requestPolicy(fixture(`policies/${name}`)))]),
  ),
  login: () => onePolicy(parse(fixture('policies/login.yaml')) as object),
};

/** The configuration with its backends at an address. */
export function nearby(value: unknown, address: string): EdgeConfig {
  const config = structuredClone(value) as {
    backends: Record<string, { static?: { address: string; tls?: object } }>;
  };
  for (const { static: dialled } of Object.values(config.backends)) {
    if (dialled === undefined) continue;
    dialled.address = address;
    delete dialled.tls;
  }
  return usable(checkWholeEdge({ value: config })).config;
}
