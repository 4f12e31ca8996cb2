import { asciiLower } from '../../http/ascii.ts';
import type { Conversation } from '../conversation.ts';
import type { LoginUser } from '../identity.ts';
import type { LoginRefusal } from '../provider.ts';
import { type ApiAccess, callApi, isApiAnswer, untrusted } from './api.ts';
import {
  GITHUB_EMAILS_URL,
  LINKEDIN_OLDER_EMAIL_URL,
  LINKEDIN_OLDER_USER,
  OAUTH_PRESETS,
  type OauthProviderName,
  type UserShape,
} from './table.ts';

/** A user with all verified e-mail addresses; the first one is the primary address. */
export interface ProviderUser extends LoginUser {
  readonly emails: readonly string[];
}

/** Requests the user of the token. */
export function* requestUser(
  name: OauthProviderName,
  access: ApiAccess,
  scopes: readonly string[],
): Conversation<ProviderUser | LoginRefusal> {
  const isOlder = name === 'linkedin' && scopes.includes('r_liteprofile');
  const shape: UserShape = isOlder ? LINKEDIN_OLDER_USER : OAUTH_PRESETS[name].user;
  const answer = yield* callApi(access, shape.url, shape.headers);
  if (!isApiAnswer(answer)) return answer;
  const id = textAt(answer.value, shape.id);
  if (id === '') return untrusted('it names no user');
  const named = shape.names.map((at) => textAt(answer.value, at)).find((each) => each !== '');
  let emails: readonly string[] = emailOf(answer.value, shape);
  if (shape.email === null) {
    const asked = isOlder ? yield* linkedinEmails(access) : yield* githubEmails(access, scopes);
    if ('refused' in asked) return asked;
    emails = asked.emails;
  }
  const [email = ''] = emails;
  return { id, name: named ?? (email || id), email, groups: [], emails };
}

/** A text or number in a response, by a path such as `data[0].id`; empty if it does not exist. */
export function textAt(value: unknown, path: string): string {
  let at: unknown = value;
  for (const part of path.split(/[.[\]]+/).filter((each) => each !== '')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return '';
    at = (at as Readonly<Record<string, unknown>>)[part];
  }
  if (typeof at === 'number') return Number.isSafeInteger(at) ? String(at) : '';
  return typeof at === 'string' ? at : '';
}

function emailOf(value: unknown, { email: path, verified }: UserShape): string[] {
  const email = path === null ? '' : asciiLower(textAt(value, path));
  if (!isAddress(email)) return [];
  // A guest of a Microsoft tenant has a name in a domain that the tenant does not own.
  if (verified === 'sign_in') return email.includes('#ext#') ? [] : [email];
  if (verified === 'provider') return [email];
  const claim = (value as Readonly<Record<string, unknown>>)[verified.claim];
  return claim === true || claim === 'true' ? [email] : [];
}

/** Exactly one `@`, and no separators that make it a list of addresses. */
function isAddress(text: string): boolean {
  return /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(text);
}

type Emails = { readonly emails: readonly string[] } | LoginRefusal;

/** GitHub lists all addresses with their verification; the primary one comes first. */
function* githubEmails(access: ApiAccess, scopes: readonly string[]): Conversation<Emails> {
  if (!scopes.some((scope) => scope === 'user:email' || scope === 'user')) return { emails: [] };
  const answer = yield* callApi(access, GITHUB_EMAILS_URL, OAUTH_PRESETS.github.user.headers);
  if (!isApiAnswer(answer)) return answer;
  if (!Array.isArray(answer.value)) return untrusted('its list of addresses is not a list');
  const rows = (answer.value as readonly unknown[])
    .filter((row) => isTrue(row, 'verified'))
    .toSorted((a, b) => Number(isTrue(b, 'primary')) - Number(isTrue(a, 'primary')));
  return { emails: rows.map((row) => asciiLower(textAt(row, 'email'))).filter(isAddress) };
}

function isTrue(row: unknown, name: string): boolean {
  return typeof row === 'object' && row !== null && (row as Readonly<Record<string, unknown>>)[name] === true;
}

function* linkedinEmails(access: ApiAccess): Conversation<Emails> {
  const answer = yield* callApi(access, LINKEDIN_OLDER_EMAIL_URL);
  if (!isApiAnswer(answer)) return answer;
  const email = asciiLower(textAt(answer.value, 'elements[0].handle~.emailAddress'));
  return { emails: isAddress(email) ? [email] : [] };
}
