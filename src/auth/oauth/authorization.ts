import { asciiLower } from '../../http/ascii.ts';
import type { Conversation } from '../conversation.ts';
import type { LoginRefusal } from '../provider.ts';
import { type ApiAccess, type ApiAnswer, callApi, isApiAnswer, untrusted } from './api.ts';
import { GITHUB_ORGANIZATIONS_URL, GITHUB_TEAMS_URL, OAUTH_PRESETS } from './table.ts';
import { type ProviderUser, textAt } from './user.ts';

/**
 * Users who meet at least one criterion are authorized; without criteria, all users are. All values are in
 * lower case.
 */
export interface Criteria {
  readonly emailAddresses: readonly string[];
  readonly emailDomains: readonly string[];
  /** `organization/team`, by slug; GitHub only. */
  readonly teams: readonly string[];
  readonly organizations: readonly string[];
}

const PAGES_LIMIT = 20;

/**
 * The criterion that the user meets, for the trace, or a refusal. Membership lists are requested only if they
 * decide.
 */
export function* authorize(
  user: ProviderUser,
  { emailAddresses, emailDomains, teams, organizations }: Criteria,
  access: ApiAccess,
): Conversation<{ readonly by: string } | LoginRefusal> {
  const lists = [emailAddresses, emailDomains, teams, organizations];
  if (lists.every((list) => list.length === 0)) return { by: 'login' };
  if (user.emails.some((email) => emailAddresses.includes(email))) return { by: 'email_addresses' };
  if (user.emails.some((email) => emailDomains.includes(email.slice(email.lastIndexOf('@') + 1))))
    return { by: 'email_domains' };
  if (organizations.length > 0) {
    const found = yield* isInList(access, GITHUB_ORGANIZATIONS_URL, (row) =>
      organizations.includes(asciiLower(textAt(row, 'login'))),
    );
    if (typeof found === 'object') return found;
    if (found) return { by: 'organizations' };
  }
  if (teams.length > 0) {
    const found = yield* isInList(access, GITHUB_TEAMS_URL, (row) =>
      teams.includes(asciiLower(`${textAt(row, 'organization.login')}/${textAt(row, 'slug')}`)),
    );
    if (typeof found === 'object') return found;
    if (found) return { by: 'teams' };
  }
  const wanted = [
    emailAddresses.length > 0 && 'address',
    emailDomains.length > 0 && 'domain',
    organizations.length > 0 && 'organization',
    teams.length > 0 && 'team',
  ].filter((each) => each !== false);
  return {
    refused: 'not_authorized',
    message: `You are logged in, but your account is not authorized (by ${wanted.join(', ')}).`,
    detail: { user_id: user.id, verified_emails: String(user.emails.length) },
  };
}

/** Searches a paged list for a matching row. */
function* isInList(
  access: ApiAccess,
  url: string,
  isRight: (row: unknown) => boolean,
): Conversation<boolean | LoginRefusal> {
  let page: string | null = `${url}?per_page=100`;
  for (let turn = 0; page !== null && turn < PAGES_LIMIT; turn++) {
    const answer: ApiAnswer | LoginRefusal = yield* callApi(access, page, OAUTH_PRESETS.github.user.headers);
    if (!isApiAnswer(answer)) return answer;
    if (!Array.isArray(answer.value)) return untrusted('its list of memberships is not a list');
    if (answer.value.some(isRight)) return true;
    page = answer.next;
  }
  return false;
}
