import { BOOL } from '../cel/types.ts';
import { compile } from '../cel/program.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { connectionFor, headOf } from '../engine/request_like.ts';
import { isCidrProblem, parseCidr } from '../net/cidr.ts';
import { Activation } from '../policy/env/activation.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import {
  ALL_ADDRESSES,
  type AddressSet,
  NO_ADDRESSES,
  addressFrom,
  addressesIn,
  complement,
  intersection,
  union,
} from './addresses.ts';

/** The addresses for which a condition is true, and those for which it is false; of all others nothing is known. */
export interface OfClient {
  readonly yes: AddressSet;
  readonly no: AddressSet;
}

/** Tables with more ranges are not analysed. */
const RANGE_LIMIT = 200;
const NOW_MS = Date.UTC(2026, 0, 1);

/**
 * What the facts of a configuration decide: they are the same for all addresses between the ends of its ranges, so a
 * condition on them is evaluated for one address of each part. Undefined with a database, which may say what the table does not.
 */
export function clientFacts({ facts: table, service_name: service, address_databases: books }: EdgeConfig) {
  const texts = Array.isArray(table)
    ? table.flatMap((entry: { readonly cidr?: string }) => entry.cidr ?? [])
    : [];
  const ranges = texts.flatMap((text) => {
    const range = parseCidr(text);
    return isCidrProblem(range) ? [] : [range];
  });
  if (books.length > 0 || table === undefined || ranges.length < texts.length || texts.length > RANGE_LIMIT)
    return undefined;
  const parts = ranges.reduce<readonly AddressSet[]>(
    (all, range) => {
      const own = addressesIn([range]);
      const both = all.flatMap((part) => [intersection(part, own), intersection(part, complement(own))]);
      return both.filter((part) => part.length > 0);
    },
    [ALL_ADDRESSES],
  );
  const { facts } = compileFacts(table, '/facts');
  const head = headOf({ url: 'https://a.test/' });
  const known = new Map<string, OfClient | null>();
  const evaluated = (source: string): OfClient | null => {
    const { program } = compile(source, scopeFor('on_http_request', { service }), { wants: BOOL });
    if (program === undefined || 'refused' in head) return null;
    const found = { yes: NO_ADDRESSES, no: NO_ADDRESSES };
    for (const part of parts) {
      const client = addressFrom(part)!;
      const connection = { ...connectionFor(head, { clientIp: client.text }), startMs: NOW_MS };
      const endpoint = { id: '', host: head.host, port: 443, protocol: head.scheme };
      const world = { nowMs: () => NOW_MS, random: () => 0.5 };
      const surroundings = { endpoint, facts, secret: () => undefined };
      const value = program.evaluate(new Activation(world, surroundings, connection, head));
      if (value === true) found.yes = union(found.yes, part);
      if (value === false) found.no = union(found.no, part);
    }
    return found;
  };
  return (source: string): OfClient | null => {
    if (!known.has(source)) known.set(source, evaluated(source));
    return known.get(source)!;
  };
}
