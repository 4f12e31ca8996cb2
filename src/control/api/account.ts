import { TOKEN, USER_KIND, newToken, tokenHash } from '../resources/accounts.ts';
import type { Principal } from '../resources/contract.ts';
import type { Store, StoredObject, Transaction, View } from '../store/port.ts';
import { wholeSeconds } from '../../events/timestamps.ts';

/** Dependencies for creating keys. */
export interface KeyMaking {
  readonly newId: (prefix: string) => string;
  readonly secretText: (length: number) => string;
  readonly nowMs: () => number;
}

export interface Account {
  readonly accountId: string;
  /** The admin key if the account was just created; shown once, stored as a hash. */
  readonly firstKey: string | null;
}

/** Set in every store since its first start. */
export const ACCOUNT_SETTING = 'account_id';
const ADMIN = 'admin_id';

/**
 * Reads the account of a store; on the first start it is created with an admin and a key. Later starts write nothing, so
 * that a node starts while another one hangs in a write.
 */
export async function openAccount(store: Store, making: KeyMaking): Promise<Account> {
  const before = await store.read((view) => view.setting(ACCOUNT_SETTING));
  if (before !== null) return { accountId: before, firstKey: null };
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
    const { token } = await insertKey(transaction, making, 'Created at the first start.');
    return { accountId, firstKey: token };
  });
}

/** The admin of the account, for actions of the operator. */
export async function adminOf(view: View): Promise<Principal> {
  const id = (await view.setting(ADMIN)) ?? '';
  const admin = await view.get(id);
  const [key] = await view.all(['api_key']);
  return { id, subject: String(admin?.body['email']), isAdmin: true, keyId: key?.id ?? id };
}

/** Creates a key of the admin, for the command line. */
export function makeKey(
  store: Store,
  making: KeyMaking,
  description: string,
): Promise<{ readonly id: string; readonly token: string }> {
  return store.write((transaction) => insertKey(transaction, making, description));
}

async function insertKey(transaction: Transaction, making: KeyMaking, description: string) {
  const id = making.newId('ak');
  const token = newToken(id, making.secretText);
  if (!TOKEN.test(token)) throw new Error('the token does not match its own format');
  const owner = (await transaction.setting(ADMIN)) ?? '';
  await transaction.insert({
    id,
    kind: 'api_key',
    parent: owner,
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
