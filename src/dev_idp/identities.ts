/** A user who can log in at the development provider or in a simulation. */
export interface Identity {
  /** Name in the file. */
  readonly key: string;
  /** Subject at the provider; never changes. */
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly groups: readonly string[];
  readonly organizations: readonly string[];
  /** `organization/team`. */
  readonly teams: readonly string[];
  /** False: the provider no longer knows the user, and tokens are invalid. */
  readonly active: boolean;
  readonly misbehave: Misbehaviour | null;
}

/** Faults that a provider can show for an identity, so that users can test their error paths. */
// table: faults and their effects
export const MISBEHAVIOURS = {
  denied: 'the provider answers that the user denied access',
  expired: 'the ID token has expired',
  issued_long_ago: 'the ID token was issued an hour ago',
  issued_in_future: 'the ID token is issued in an hour',
  wrong_audience: 'the ID token is for another client',
  wrong_issuer: 'the ID token is from another issuer',
  wrong_nonce: 'the ID token has the nonce of another login',
  wrong_at_hash: 'the ID token has the hash of another access token',
  bad_signature: 'the ID token is signed with another key',
  unsigned: 'the ID token has the algorithm none',
  wrong_state: 'the callback has the state of another login',
  wrong_user: 'the user-info response is about another user',
  no_email: 'no email address is given',
  code_refused: 'the token endpoint rejects every code',
  unavailable: 'the token endpoint answers 503',
  slow: 'the token endpoint answers after twenty seconds',
} as const;

export type Misbehaviour = keyof typeof MISBEHAVIOURS;

/** The state that the provider returns: that of another login if `misbehave` asks for it. */
export function returnedState({ misbehave }: Pick<Identity, 'misbehave'>, state: string): string {
  if (misbehave !== 'wrong_state') return state;
  // States are random: the first character has to become another one, whatever it is.
  return `${state.startsWith('x') ? 'y' : 'x'}${state.slice(1)}`;
}

const KEYS = [
  'id',
  'name',
  'email',
  'email_verified',
  'groups',
  'organizations',
  'teams',
  'active',
  'misbehave',
] as const;

/** A problem of an identity, below its key. */
export interface IdentityProblem {
  readonly key: string;
  /** Member, or empty for the identity itself. */
  readonly member: string;
  readonly message: string;
}

/** Reads identities by name, as in scenario files and identity files. */
export function readIdentities(raw: Readonly<Record<string, unknown>>): {
  readonly identities: readonly Identity[];
  readonly problems: readonly IdentityProblem[];
} {
  const problems: IdentityProblem[] = [];
  const identities = Object.entries(raw).map(([key, value]) => {
    const members = isObject(value) ? value : {};
    const problem = (member: string, message: string): void => void problems.push({ key, member, message });
    if (!isObject(value)) problem('', 'an identity has to be a map');
    for (const member of Object.keys(members)) {
      if (!(KEYS as readonly string[]).includes(member))
        problem(member, `unknown key '${member}' in an identity; known keys: ${KEYS.join(', ')}`);
    }
    return identityOf(key, members, problem);
  });
  return { identities, problems };
}

function identityOf(
  key: string,
  members: Readonly<Record<string, unknown>>,
  problem: (member: string, message: string) => void,
): Identity {
  const text = (member: string, standard: string): string => {
    const value = members[member] ?? standard;
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    problem(member, `'${member}' has to be a string`);
    return standard;
  };
  const flag = (member: string): boolean => {
    const value = members[member] ?? true;
    if (typeof value !== 'boolean') problem(member, `'${member}' has to be true or false`);
    return value === true;
  };
  const list = (member: string): readonly string[] => {
    const value = members[member] ?? [];
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    problem(member, `'${member}' has to be a list of strings`);
    return [];
  };
  const misbehave = members['misbehave'] === undefined ? null : text('misbehave', '');
  const known = misbehave === null || Object.hasOwn(MISBEHAVIOURS, misbehave);
  if (!known)
    problem('misbehave', `'${misbehave}' has to be one of ${Object.keys(MISBEHAVIOURS).join(', ')}`);
  return {
    key,
    id: text('id', key),
    name: text('name', key),
    email: text('email', `${key}@example.test`),
    emailVerified: flag('email_verified'),
    groups: list('groups'),
    organizations: list('organizations'),
    teams: list('teams'),
    active: flag('active'),
    misbehave: known ? (misbehave as Misbehaviour | null) : null,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The default identities without a file. */
export const USUAL_IDENTITIES = {
  alice: {
    name: 'Alice Example',
    groups: ['staff', 'admins'],
    organizations: ['acme'],
    teams: ['acme/platform'],
  },
  bob: { name: 'Bob Example', groups: ['staff'], organizations: ['acme'] },
  mallory: { name: 'Mallory Unverified', email_verified: false },
  denied: { name: 'A user who denies access', misbehave: 'denied' },
} as const;
