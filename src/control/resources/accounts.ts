import * as z from 'zod';
import { digest } from '../../crypto/digest.ts';
import type { Completed, Draft, Resource } from './contract.ts';
import { readSshPublicKey, sshKeyFingerprint } from '../../crypto/ssh_keys.ts';
import { derive, field, notes, resource } from './fields.ts';
import { refusedValue } from './problem.ts';

/** Characters of a token after the underscore: 129 bits. */
const SECRET_LENGTH = 25;
/** A token: the id of its object without the prefix, and a secret. */
export const TOKEN = /^([0-9a-z]{27})_([0-9a-z]{25})$/;

/** The stored form of a token. Tokens cannot be guessed, so one fast hash is enough. */
export function tokenHash(token: string): string {
  return digest('sha256', [token], 'hex');
}

/** A new token of an object. */
export function newToken(id: string, secretText: (length: number) => string): string {
  return `${id.slice(id.indexOf('_') + 1)}_${secretText(SECRET_LENGTH)}`;
}

/** Creates the token of a new object; it is shown in this one response and stored as a hash. */
export function withToken({ id, body, before, ports }: Draft): Completed {
  if (before !== null) return { body };
  const token = newToken(id, ports.secretText);
  return { body: { ...body, token_hash: tokenHash(token) }, once: { token } };
}

export const token = derive(
  z.string().nullable().describe('The secret; only in the response to its creation.'),
  () => null,
);

/** Prefixes of the possible owners of keys and credentials. */
const OWNER = /^(?:usr|bot|service)_/;

const ownerId = field(z.string().min(1).describe('The user, bot or service user that owns it.'), {
  update: 'refused',
  emptyIsUnset: [''],
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

export const apiKeys = resource({
  kind: 'api_key',
  title: 'API key',
  path: '/api_keys',
  prefix: 'ak',
  listKey: 'keys',
  fields: { ...notes(604, 605), owner_id: ownerId, token },
  codes: { emptyUpdate: 606 },
  partOf: 'owner_id',
  complete: async (draft) => withToken(await withOwner(draft)),
  secretKeys: ['owner_id'],
});

const acl = field(
  z
    .array(z.string())
    .describe('What the credential may do, such as bind:example.test; empty for everything.'),
  { standard: [], codes: { bad: 600 } },
);

/** A name, or an address with its port, with or without a leading wildcard. */
const BIND_ADDRESS = /^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::\d{1,5})?)$/i;
const BIND_LABEL = /^[^=]+=[^=]*$/;

/** Why a text is not a rule of a credential; null if it is one. */
function aclProblem(rule: string): string | null {
  if (rule === '*') return null;
  const shown = rule.slice(0, 80);
  if (!rule.startsWith('bind:')) return `The rule '${shown}' is neither * nor starts with bind:.`;
  const bound = rule.slice('bind:'.length);
  if (BIND_ADDRESS.test(bound) || BIND_LABEL.test(bound)) return null;
  return `The rule '${shown}' does not name a domain, an address or a label.`;
}

function checkAcl({ given }: Draft): void {
  for (const [index, rule] of ((given['acl'] ?? []) as readonly string[]).entries()) {
    const problem = aclProblem(rule);
    if (problem !== null) throw refusedValue(600, `/acl/${index}`, problem);
  }
}

export const credentials = resource({
  kind: 'tunnel_credential',
  title: 'tunnel credential',
  path: '/credentials',
  prefix: 'cr',
  listKey: 'credentials',
  fields: { ...notes(604, 605), acl, owner_id: ownerId, token },
  codes: { emptyUpdate: 606 },
  partOf: 'owner_id',
  complete: async (draft) => {
    checkAcl(draft);
    return withToken(await withOwner(draft));
  },
});

/** The public keys of SSH agents. */
export const sshCredentials = resource({
  kind: 'ssh_public_key',
  title: 'SSH credential',
  path: '/ssh_credentials',
  prefix: 'sshcr',
  listKey: 'ssh_credentials',
  fields: {
    ...notes(604, 605),
    acl,
    owner_id: ownerId,
    public_key: field(z.string().describe('Public key, as in authorized_keys.'), {
      create: 'required',
      update: 'refused',
      codes: { missing: 611, bad: 612 },
    }),
  },
  codes: { emptyUpdate: 606 },
  partOf: 'owner_id',
  complete: async (draft) => {
    checkAcl(draft);
    const { body } = await withOwner(draft);
    const given = (body['public_key'] as string).trim();
    if (given === '') throw refusedValue(611, '/public_key', "The field 'public_key' is empty.");
    const key = readSshPublicKey(given);
    if ('problem' in key) throw refusedValue(612, '/public_key', `The public key ${key.problem}.`);
    return { body: { ...body, public_key: given, fingerprint: sshKeyFingerprint(key) } };
  },
  claims: (body) => [
    { space: 'SSH key', value: String(body['fingerprint']), number: 609, field: 'public_key' },
  ],
});

/** Bots and service users: the service renamed the former to the latter, and serves both. */
function machineUsers(name: string, prefix: string): Resource {
  return resource({
    kind: `${name}_user`,
    title: `${name} user`,
    path: `/${name}_users`,
    prefix,
    listKey: `${name}_users`,
    fields: {
      name: field(z.string().max(255).describe('Name.'), { standard: '' }),
      active: field(z.boolean().describe('Whether its keys are valid.'), { standard: true }),
    },
  });
}

export const botUsers = machineUsers('bot', 'bot');
export const serviceUsers = machineUsers('service', 'service');
