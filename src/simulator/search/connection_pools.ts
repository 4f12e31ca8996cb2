import type { EdgeConfig } from '../../edge/document/schema.ts';
import { parseAddress } from '../../net/address.ts';
import { isCidrProblem, parseCidr } from '../../net/cidr.ts';
import { boundariesOf } from '../../coverage/ip_points.ts';
import { modulesOf } from '../../coverage/placed_routes.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import { type Asked, has, textsFor } from './constants.ts';

/** Values worth trying for a connection: addresses, facts about them, certificates, and whether it has TLS. */

export type Actions = readonly { readonly type: string; readonly config: unknown }[];

/** Addresses in the configuration, and at the boundaries of ranges. */
export function addressesOf(config: EdgeConfig, asked: readonly Asked[], actions: Actions): Set<string> {
  const written = [
    ...Object.values(config.ip_policies).flatMap(({ rules }) => rules.map(({ cidr }) => cidr)),
    ...textsFor(asked, /^conn\.client_ip/),
    ...actions.flatMap(({ type, config: own }) => {
      const { allow = [], deny = [] } = ACTION_FACTS.get(type)?.addressLists?.(own as never) ?? {};
      return [...allow, ...deny];
    }),
  ];
  const found = new Set<string>();
  for (const text of written) {
    const address = parseAddress(text);
    if (address !== null) found.add(address.text);
    const cidr = parseCidr(text);
    if (!isCidrProblem(cidr)) for (const boundary of boundariesOf(cidr)) found.add(boundary.text);
  }
  return found;
}

const FACT = /^conn\.(?:geo|server_region|client_ip\.\w+|tls\.ja4|k8s)/;

/** Values of each fact in expressions; for a string, its constants and one other value. */
export function factsAsked(asked: readonly Asked[]): Map<string, Set<unknown>> {
  const pool = new Map<string, Set<unknown>>();
  for (const { variables, texts, numbers } of asked) {
    for (const name of [...variables].filter((each) => FACT.test(each))) {
      // `conn.client_ip.as` in `conn.client_ip.as.number` is not a value.
      if ([...variables].some((other) => other.startsWith(`${name}.`))) continue;
      const values = pool.get(name) ?? new Set<unknown>();
      pool.set(name, values);
      if (/\.(?:is_\w+|session_resumed)$/.test(name)) for (const value of [true, false]) values.add(value);
      else if (name.endsWith('.number')) for (const value of [...numbers, 0]) values.add(value);
      else if (name.endsWith('.categories')) for (const text of texts) values.add([text]);
      else for (const text of [...texts, 'XX']) values.add(text);
    }
  }
  return pool;
}

/** Names of client certificates; null for none. */
export function certificatesOf(config: EdgeConfig, asked: readonly Asked[]): Set<string | null> {
  const texts = textsFor(asked, /^conn\.tls\.client/);
  const isAsked =
    asked.some(({ variables }) => has(variables, /^conn\.tls\.client/)) ||
    modulesOf(config).some(
      ({ facts: { reads } }) => Array.isArray(reads) && reads.includes('client_certificate'),
    );
  return isAsked ? new Set([null, ...texts, 'client']) : new Set();
}

/** Both schemes, if an edge distinguishes them. */
export function schemesOf(config: EdgeConfig, asked: readonly Asked[]): ReadonlySet<'http' | 'https'> {
  const isTold =
    asked.some(({ variables }) => has(variables, /^req\.url\.scheme|^conn\.tls/)) ||
    modulesOf(config).some(({ facts, kind }) => facts.place === 'edge' && kind === 'https');
  return new Set(isTold ? ['http', 'https'] : []);
}
