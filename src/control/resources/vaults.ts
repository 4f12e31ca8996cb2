import * as z from 'zod';
import type { Body, Draft } from './contract.ts';
import { derive, field, notes, ref, refSchema, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

const name = (describes: string) =>
  field(
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9_/.-]+$/)
      .meta({ description: describes, form: 'letters, digits, _, /, . and -' }),
    { create: 'required' },
  );

export const updatedAt = derive(z.string().describe('Time of the last change, RFC 3339.'));

/** Sets creator, last editor and times. */
export function signed({ body, before, principal, now }: Draft): Body {
  return {
    ...body,
    created_by: before?.['created_by'] ?? principal.id,
    last_updated_by: principal.id,
    updated_at: now,
  };
}

export const vaults = resource({
  kind: 'vault',
  title: 'vault',
  path: '/vaults',
  prefix: 'vault',
  listKey: 'vaults',
  fields: {
    ...notes(),
    name: name('Name: letters, digits and _ / . -'),
    created_by: derive(z.string().describe('Creator.')),
    last_updated_by: derive(z.string().describe('Last editor.')),
    updated_at: updatedAt,
  },
  codes: { inUse: 23003 },
  drivesEdge: true,
  complete: (draft) => ({ body: signed(draft) }),
  claims: (body) => [{ space: 'vault', value: String(body['name']), number: COMMON.badValue }],
});

export const person = derive(refSchema, (id, { refOf }) => refOf(String(id)));

/** The vault of a new secret, which is given by its id or its name. */
async function vaultOf({ before, given, lookup }: Draft): Promise<Body> {
  if (before !== null) return {};
  const { vault_id: id, vault_name: named } = given as Readonly<Record<string, string | undefined>>;
  if ((id === undefined) === (named === undefined))
    throw refusedValue(COMMON.badValue, '/vault_id', 'Give either vault_id or vault_name.');
  if (named === undefined) return {};
  const found = await lookup.claimant({ space: 'vault', value: named });
  if (found === null) throw refusedValue(COMMON.notFound, '/vault_name', `There is no vault '${named}'.`);
  return { vault_id: found };
}

export const vaultSecrets = resource({
  kind: 'secret',
  title: 'secret',
  path: '/vault_secrets',
  prefix: 'secret',
  listKey: 'secrets',
  fields: {
    ...notes(),
    name: name('Name within its vault: letters, digits and _ / . -'),
    value: {
      ...field(z.string().describe('The secret; never returned.'), { read: 'never' }),
      secrets: [''],
    },
    vault_id: ref('vault', 'The vault that contains it.', {
      kinds: ['vault'],
      missing: COMMON.notFound,
      update: 'refused',
    }),
    vault_name: {
      ...field(z.string().min(1).describe('Its name, instead of the id.'), { update: 'refused' }),
      read: { schema: z.string(), show: () => undefined },
    },
    created_by: person,
    last_updated_by: person,
    updated_at: updatedAt,
  },
  drivesEdge: true,
  complete: async (draft) => ({ body: { value: '', ...signed(draft), ...(await vaultOf(draft)) } }),
  related: async ({ vault_id: id }, lookup) => ({
    vault_name: (await lookup.get(String(id)))?.body['name'],
  }),
  claims: (body) => [
    {
      space: 'secret',
      value: `${String(body['vault_id'])} ${String(body['name'])}`,
      number: COMMON.badValue,
    },
  ],
});
