import * as z from 'zod';
import { digest } from '../../crypto/digest.ts';
import type { Completed, Draft, Resource } from './contract.ts';
import { createdAt, derive, field, notes } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

/** Characters of a token after the underscore: 129 bits. */
const SECRET_LENGTH = 25;
/** A token: the id of its object without the prefix, and a secret. */
export const TOKEN = /^([0-9a-z]{27})_([0-9a-z]{25})$/;

/** The stored form of a token. Tokens cannot be guessed, so one fast hash is enough. */
export function tokenHash(token: string): string {
  return digest('sha256', [token], 'hex');
}

/** Creates the token of a new object; it is shown in this one response and stored as a hash. */
function withToken({ id, body, before, ports }: Draft): Completed {
  if (before !== null) return { body };
  const token = `${id.slice(id.indexOf('_') + 1)}_${ports.secretText(SECRET_LENGTH)}`;
  return { body: { ...body, token_hash: tokenHash(token) }, once: { token } };
}

const token = derive(
  'token',
  z.string().nullable().describe('The secret; only in the response to its creation.'),
  () => null,
);

/** Prefixes of the possible owners of keys and credentials. */
const OWNER = /^(?:usr|bot)_/;

const ownerId = field('owner_id', z.string().min(1).describe('The user or bot that owns it.'), {
  update: 'refused',
});

/** Sets the owner: the caller, unless an admin names another. */
async function withOwner(draft: Draft): Promise<Draft> {
  const { body, before, principal, lookup } = draft;
  if (before !== null) return draft;
  const owner = (body['owner_id'] as string | undefined) ?? principal.id;
  if (owner !== principal.id) {
    if (!principal.isAdmin)
      throw refusedValue(630, '/owner_id', 'Only admins may set an owner other than themselves.');
    if (!OWNER.test(owner))
      throw refusedValue(634, '/owner_id', `'${owner}' is not the id of a user or bot.`);
    if ((await lookup.get(owner)) === null)
      throw refusedValue(633, '/owner_id', `The user or bot '${owner}' does not exist.`);
  }
  return { ...draft, body: { ...body, owner_id: owner } };
}

/** A user of the account: created at the first start, not through the API. */
export const USER_KIND = 'user';

export const apiKeys: Resource = {
  kind: 'api_key',
  title: 'API key',
  path: '/api_keys',
  prefix: 'ak',
  listKey: 'keys',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: { ...notes(604, 605), owner_id: ownerId, created_at: createdAt, token },
  codes: { notFound: COMMON.notFound, inUse: COMMON.badValue, emptyUpdate: 606 },
  complete: async (draft) => withToken(await withOwner(draft)),
  secretKeys: ['owner_id'],
};

const acl = field(
  'acl',
  z
    .array(z.string())
    .describe('What the credential may do, such as bind:example.test; empty for everything.'),
  { standard: [] },
);

export const credentials: Resource = {
  kind: 'tunnel_credential',
  title: 'tunnel credential',
  path: '/credentials',
  prefix: 'cr',
  listKey: 'credentials',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: { ...notes(604, 605), acl, owner_id: ownerId, created_at: createdAt, token },
  codes: { notFound: COMMON.notFound, inUse: COMMON.badValue, emptyUpdate: 606 },
  complete: async (draft) => withToken(await withOwner(draft)),
};

export const botUsers: Resource = {
  kind: 'bot_user',
  title: 'bot user',
  path: '/bot_users',
  prefix: 'bot',
  listKey: 'bot_users',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    name: field('name', z.string().max(255).describe('Name of the bot.'), { standard: '' }),
    active: field('active', z.boolean().describe('Whether its keys are valid.'), { standard: true }),
    created_at: createdAt,
  },
  codes: { notFound: COMMON.notFound, inUse: COMMON.badValue },
};
