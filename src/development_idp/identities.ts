/** Somebody who can log in at the development provider or in a simulation. */
export interface Identity {
  /** Name in the file. */
  readonly key: string;
  /** What the provider calls the user: never changes. */
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly groups: readonly string[];
  readonly organizations: readonly string[];
  /** `organization/team`. */
  readonly teams: readonly string[];
  /** False: the provider knows the user no more, and tokens count no more. */
  readonly active: boolean;
  readonly misbehave: Misbehaviour | null;
}

/** How the provider can go wrong for an identity, so that users see their own error paths. */
// table: misbehaviours and what they do
export const MISBEHAVIOURS = {
  denied: 'the provider answers that the user has refused',
  expired: 'the ID token has expired',
  issued_long_ago: 'the ID token was issued an hour ago',
  issued_in_future: 'the ID token is issued in an hour',
  wrong_audience: 'the ID token is for another app',
  wrong_issuer: 'the ID token is of another provider',
  wrong_nonce: 'the ID token is of another login',
  wrong_at_hash: 'the ID token names another access token',
  bad_signature: 'the ID token is signed with another key',
  unsigned: 'the ID token has the algorithm none',
  wrong_state: 'the callback has the state of another login',
  wrong_user: 'the user-info response is about another user',
  no_email: 'no address is told',
  code_refused: 'the token endpoint takes no code',
  unavailable: 'the token endpoint answers 503',
  slow: 'the token endpoint answers after twenty seconds',
} as const;

export type Misbehaviour = keyof typeof MISBEHAVIOURS;

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

/** What is wrong with an identity, below its key. */
export interface IdentityProblem {
  readonly key: string;
  /** Member, or empty for the identity itself. */
  readonly member: string;
  readonly says: string;
}

/** Reads identities by name, as scenario files and identity files have them. */
export function readIdentities(raw: Readonly<Record<string, unknown>>): {
  readonly identities: readonly Identity[];
  readonly problems: readonly IdentityProblem[];
} {
  const problems: IdentityProblem[] = [];
  const identities = Object.entries(raw).map(([key, value]) => {
    const members = isObject(value) ? value : {};
    const problem = (member: string, says: string): void => void problems.push({ key, member, says });
    if (!isObject(value)) problem('', 'an identity is a map');
    for (const member of Object.keys(members)) {
      if (!(KEYS as readonly string[]).includes(member))
        problem(member, `'${member}' has no meaning in an identity; known are ${KEYS.join(', ')}`);
    }
    return identityOf(key, members, problem);
  });
  return { identities, problems };
}

function identityOf(
  key: string,
  members: Readonly<Record<string, unknown>>,
  problem: (member: string, says: string) => void,
): Identity {
  const text = (member: string, standard: string): string => {
    const value = members[member] ?? standard;
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    problem(member, `'${member}' is a text`);
    return standard;
  };
  const flag = (member: string): boolean => {
    const value = members[member] ?? true;
    if (typeof value !== 'boolean') problem(member, `'${member}' is true or false`);
    return value === true;
  };
  const list = (member: string): readonly string[] => {
    const value = members[member] ?? [];
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    problem(member, `'${member}' is a list of texts`);
    return [];
  };
  const misbehave = members['misbehave'] === undefined ? null : text('misbehave', '');
  const known = misbehave === null || Object.hasOwn(MISBEHAVIOURS, misbehave);
  if (!known) problem('misbehave', `'${misbehave}' is none of ${Object.keys(MISBEHAVIOURS).join(', ')}`);
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

/** Who can log in when no file says so. */
export const USUAL_IDENTITIES = {
  alice: {
    name: 'Alice Example',
    groups: ['staff', 'admins'],
    organizations: ['acme'],
    teams: ['acme/platform'],
  },
  bob: { name: 'Bob Example', groups: ['staff'], organizations: ['acme'] },
  mallory: { name: 'Mallory Unverified', email_verified: false },
  denied: { name: 'Somebody who says no', misbehave: 'denied' },
} as const;
