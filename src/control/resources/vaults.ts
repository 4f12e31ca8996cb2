import * as z from 'zod';
import type { Body, Completed, Draft, Resource } from './contract.ts';
import { createdAt, derive, field, notes, ref, refSchema } from './fields.ts';
import { COMMON } from './problem.ts';

const name = (describes: string) =>
  field(
    'name',
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9_/.-]+$/)
      .describe(describes),
    { create: 'required' },
  );

const updatedAt = derive('updated_at', z.string().describe('Time of the last change, RFC 3339.'));

/** Sets creator, last editor and times. */
function signed({ body, before, principal, now }: Draft): Body {
  return {
    ...body,
    created_by: before?.['created_by'] ?? principal.id,
    last_updated_by: principal.id,
    updated_at: now,
  };
}

export const vaults: Resource = {
  kind: 'vault',
  title: 'vault',
  path: '/vaults',
  prefix: 'vault',
  listKey: 'vaults',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    ...notes(COMMON.badValue, COMMON.badValue),
    name: name('Name: letters, digits and _ / . -'),
    created_by: derive('created_by', z.string().describe('Creator.')),
    last_updated_by: derive('last_updated_by', z.string().describe('Last editor.')),
    updated_at: updatedAt,
    created_at: createdAt,
  },
  codes: { notFound: COMMON.notFound, inUse: 23003 },
  drivesEdge: true,
  complete: (draft) => ({ body: signed(draft) }),
  claims: (body) => [{ space: 'vault', value: String(body['name']), number: COMMON.badValue }],
};

function completeSecret(draft: Draft): Completed {
  return { body: { value: '', ...signed(draft) } };
}

export const vaultSecrets: Resource = {
  kind: 'secret',
  title: 'secret',
  path: '/vault_secrets',
  prefix: 'secret',
  listKey: 'secrets',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    ...notes(COMMON.badValue, COMMON.badValue),
    name: name('Name within its vault: letters, digits and _ / . -'),
    value: {
      ...field('value', z.string().describe('The secret; never returned.'), { read: 'never' }),
      secrets: [''],
    },
    vault_id: ref('vault_id', 'vault', 'The vault that contains it.', {
      kinds: ['vault'],
      missing: COMMON.notFound,
      create: 'required',
      update: 'refused',
    }),
    created_by: derive('created_by', refSchema, (body, { refOf }) => refOf(String(body['created_by']))),
    last_updated_by: derive('last_updated_by', refSchema, (body, { refOf }) =>
      refOf(String(body['last_updated_by'])),
    ),
    updated_at: updatedAt,
    created_at: createdAt,
  },
  codes: { notFound: COMMON.notFound, inUse: COMMON.badValue },
  drivesEdge: true,
  complete: completeSecret,
  claims: (body) => [
    {
      space: 'secret',
      value: `${String(body['vault_id'])} ${String(body['name'])}`,
      number: COMMON.badValue,
    },
  ],
};
