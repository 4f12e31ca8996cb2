import * as z from 'zod';
import { isCidrProblem, parseCidr } from '../../net/cidr.ts';
import type { Body, Completed, Resource } from './contract.ts';
import { createdAt, field, notes, ref, refs } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

export const ipPolicies: Resource = {
  kind: 'ip_policy',
  title: 'IP policy',
  path: '/ip_policies',
  prefix: 'ipp',
  listKey: 'ip_policies',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: { ...notes(COMMON.badValue, COMMON.badValue), created_at: createdAt },
  codes: { notFound: 1402, inUse: 1420, emptyUpdate: 1400 },
  drivesEdge: true,
};

const CIDR_NUMBERS = { no_mask: 1413, host_bits: 1409, not_an_address: 1406, bad_mask: 1406 } as const;

/** Ranges are strict: a prefix length, and no bits beyond it. They are stored in canonical form. */
function completeRule({ body }: { readonly body: Body }): Completed {
  const cidr = parseCidr(body['cidr'] as string);
  if (isCidrProblem(cidr)) throw refusedValue(CIDR_NUMBERS[cidr.problem], '/cidr', `${cidr.message}.`);
  return { body: { ...body, cidr: cidr.text } };
}

export const ipPolicyRules: Resource = {
  kind: 'ip_policy_rule',
  title: 'IP policy rule',
  path: '/ip_policy_rules',
  prefix: 'ipr',
  listKey: 'ip_policy_rules',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    ...notes(1421, COMMON.badValue),
    cidr: field('cidr', z.string().min(1).describe("Range of addresses, such as '192.0.2.0/24'."), {
      create: 'required',
      codes: { missing: 1405, bad: 1406 },
    }),
    ip_policy_id: ref('ip_policy_id', 'ip_policy', 'The IP policy that the rule belongs to.', {
      kinds: ['ip_policy'],
      missing: 1402,
      wrong: 1414,
      create: 'required',
      update: 'refused',
      codes: { missing: 1405, bad: 1414 },
    }),
    action: field('action', z.enum(['allow', 'deny']).describe('What applies to the range.'), {
      create: 'required',
      update: 'refused',
      codes: { missing: 1405, bad: 1422 },
    }),
    created_at: createdAt,
  },
  codes: { notFound: 1404, inUse: COMMON.badValue, emptyUpdate: 1401 },
  partOf: 'ip_policy_id',
  drivesEdge: true,
  complete: completeRule,
  claims: (body) => [
    { space: 'cidr', value: `${String(body['ip_policy_id'])} ${String(body['cidr'])}`, number: 1408 },
  ],
};

export const ipRestrictions: Resource = {
  kind: 'ip_restriction',
  title: 'IP restriction',
  path: '/ip_restrictions',
  prefix: 'ipx',
  listKey: 'ip_restrictions',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    ...notes(COMMON.badValue, COMMON.badValue),
    enforced: field('enforced', z.boolean().describe('Whether it is enforced.'), { standard: false }),
    type: field(
      'type',
      z.enum(['dashboard', 'api', 'agent', 'endpoints']).describe('Traffic that is restricted.'),
      {
        create: 'required',
        update: 'refused',
      },
    ),
    ip_policy_ids: refs('ip_policy_ids', 'ip_policies', 'IP policies whose rules are applied together.', {
      kinds: ['ip_policy'],
      missing: 1402,
      wrong: 229,
      create: 'required',
    }),
    created_at: createdAt,
  },
  codes: { notFound: COMMON.notFound, inUse: COMMON.badValue },
  drivesEdge: true,
  claims: (body) => [{ space: 'ip_restriction', value: String(body['type']), number: 1802 }],
};
