import { TOKEN, USER_KIND, tokenHash } from '../resources/accounts.ts';
import type { Principal } from '../resources/contract.ts';
import type { Store, StoredObject, Transaction, View } from '../store/port.ts';
import { wholeSeconds } from './change.ts';

/** What making keys needs of the outside. */
export interface KeyMaking {
  readonly newId: (prefix: string) => string;
  readonly secretText: (length: number) => string;
  readonly nowMs: () => number;
}

export interface Account {
  readonly accountId: string;
  /** The admin key that was made because there was no account; shown once, kept as a hash. */
  readonly firstKey: string | null;
}

/** The setting that a store has from its first start on. */
export const ACCOUNT_SETTING = 'account_id';
const ADMIN = 'admin_id';
const SECRET_LENGTH = 25;

/** Reads the account of a store; the first time it is made, with one admin and one key. */
export function openAccount(store: Store, making: KeyMaking): Promise<Account> {
  return store.write(async (transaction) => {
    const known = await transaction.setting(ACCOUNT_SETTING);
    if (known !== null) return { accountId: known, firstKey: null };
    const accountId = making.newId('ac');
    const admin: StoredObject = {
      id: making.newId('usr'),
      kind: USER_KIND,
      parent: null,
      body: { email: 'admin@localhost', is_admin: true, created_at: wholeSeconds(making.nowMs()) },
      references: [],
      claims: [],
    };
    await transaction.insert(admin);
    await transaction.set(ACCOUNT_SETTING, accountId);
    await transaction.set(ADMIN, admin.id);
    const { token } = await insertKey(transaction, making, 'Made at the first start.');
    return { accountId, firstKey: token };
  });
}

/** The admin of the account, for what is done by whoever runs the instance. */
export async function adminOf(view: View): Promise<Principal> {
  const id = (await view.setting(ADMIN)) ?? '';
  const admin = await view.get(id);
  const [key] = await view.all(['api_key']);
  return { id, subject: String(admin?.body['email']), isAdmin: true, keyId: key?.id ?? id };
}

/** Makes a key of the admin, from the command line. */
export function makeKey(
  store: Store,
  making: KeyMaking,
  description: string,
): Promise<{ readonly id: string; readonly token: string }> {
  return store.write((transaction) => insertKey(transaction, making, description));
}

async function insertKey(transaction: Transaction, making: KeyMaking, description: string) {
  const id = making.newId('ak');
  const token = `${id.slice('ak_'.length)}_${making.secretText(SECRET_LENGTH)}`;
  if (!TOKEN.test(token)) throw new Error('a token that would not be recognised');
  const owner = (await transaction.setting(ADMIN)) ?? '';
  await transaction.insert({
    id,
    kind: 'api_key',
    parent: null,
    body: {
      description,
      owner_id: owner,
      token_hash: tokenHash(token),
      created_at: wholeSeconds(making.nowMs()),
    },
    references: [owner],
    claims: [],
  });
  return { id, token };
}
