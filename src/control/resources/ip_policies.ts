import * as z from 'zod';
import { isCidrProblem, parseCidr } from '../../net/cidr.ts';
import type { Body, Completed } from './contract.ts';
import { field, notes, ref, refs, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

export const ipPolicies = resource({
  kind: 'ip_policy',
  title: 'IP policy',
  path: '/ip_policies',
  prefix: 'ipp',
  listKey: 'ip_policies',
  fields: notes(),
  codes: { notFound: 1402, inUse: 1420, emptyUpdate: 1400 },
  drivesEdge: true,
});

const CIDR_NUMBERS = { no_mask: 1413, host_bits: 1409, not_an_address: 1406, bad_mask: 1406 } as const;

/** Ranges are strict: a prefix length, and no bits beyond it. They are stored in canonical form. */
function completeRule({ body }: { readonly body: Body }): Completed {
  const cidr = parseCidr(body['cidr'] as string);
  if (isCidrProblem(cidr)) throw refusedValue(CIDR_NUMBERS[cidr.problem], '/cidr', `${cidr.message}.`);
  return { body: { ...body, cidr: cidr.text } };
}

export const ipPolicyRules = resource({
  kind: 'ip_policy_rule',
  title: 'IP policy rule',
  path: '/ip_policy_rules',
  prefix: 'ipr',
  listKey: 'ip_policy_rules',
  fields: {
    ...notes(1421, COMMON.badValue),
    cidr: field(z.string().min(1).describe("Range of addresses, such as '192.0.2.0/24'."), {
      create: 'required',
      codes: { missing: 1405, bad: 1406 },
    }),
    ip_policy_id: ref('ip_policy', 'The IP policy that the rule belongs to.', {
      kinds: ['ip_policy'],
      missing: 1402,
      wrong: 1414,
      create: 'required',
      update: 'refused',
      codes: { missing: 1405, bad: 1414 },
    }),
    action: field(z.enum(['allow', 'deny']).describe('What applies to the range.'), {
      create: 'required',
      update: 'refused',
      codes: { missing: 1405, bad: 1422 },
    }),
  },
  codes: { notFound: 1404, emptyUpdate: 1401 },
  partOf: 'ip_policy_id',
  drivesEdge: true,
  complete: completeRule,
  claims: (body) => [
    { space: 'cidr', value: `${String(body['ip_policy_id'])} ${String(body['cidr'])}`, number: 1408 },
  ],
});

export const ipRestrictions = resource({
  kind: 'ip_restriction',
  title: 'IP restriction',
  path: '/ip_restrictions',
  prefix: 'ipx',
  listKey: 'ip_restrictions',
  fields: {
    ...notes(),
    enforced: field(z.boolean().describe('Whether it is enforced.'), { standard: false }),
    type: field(z.enum(['dashboard', 'api', 'agent', 'endpoints']).describe('Traffic that is restricted.'), {
      create: 'required',
      update: 'refused',
    }),
    ip_policy_ids: refs('ip_policies', 'IP policies whose rules are applied together.', {
      kinds: ['ip_policy'],
      missing: 1402,
      wrong: 229,
      create: 'required',
      update: 'keeps_if_empty',
    }),
  },
  drivesEdge: true,
  complete: ({ body }) => {
    if ((body['ip_policy_ids'] as readonly string[]).length === 0)
      throw refusedValue(1804, '/ip_policy_ids', 'An IP restriction needs at least one IP policy.');
    return { body };
  },
  claims: (body) => [{ space: 'ip_restriction', value: String(body['type']), number: 1802 }],
});
