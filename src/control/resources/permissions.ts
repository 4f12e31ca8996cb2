import { withArticle } from '../../diagnostics/message_text.ts';
import type { Principal, ResourceObject } from './contract.ts';
import { ApiProblem } from './problem.ts';

/**
 * Access of bot keys to a kind of object. Admins have full access. Objects that a bot must not see are
 * omitted from lists, and requests for them get 404.
 */
export type BotAccess =
  /** Full access. */
  | 'full'
  /** Full access to objects that the bot owns, no access to others. */
  | 'own'
  /** Read access to the bot itself. */
  | 'self'
  /** Read access. */
  | 'read'
  | 'none';

/**
 * Kinds without `full` access. Keys, credentials, bots and users belong to their owner or creator. Audit events report
 * actions of all owners, so only admins configure event deliveries.
 */
// table: access of bot keys
const BOTS: Readonly<Record<string, BotAccess>> = {
  api_key: 'own',
  tunnel_credential: 'own',
  ai_gateway_api_key: 'own',
  ssh_public_key: 'own',
  bot_user: 'self',
  service_user: 'self',
  user: 'none',
  event_subscription: 'read',
  event_destination: 'read',
};

export function botAccess(kind: string): BotAccess {
  return Object.hasOwn(BOTS, kind) ? BOTS[kind]! : 'full';
}

/** Whether a principal must not see some objects of a kind. */
export function isPartlyHidden(principal: Principal, kind: string): boolean {
  return !principal.isAdmin && ['own', 'self', 'none'].includes(botAccess(kind));
}

export function maySee(principal: Principal, { id, kind, body }: ResourceObject): boolean {
  if (!isPartlyHidden(principal, kind)) return true;
  const access = botAccess(kind);
  if (access === 'own') return (body['owner_id'] ?? body['created_by']) === principal.id;
  return access === 'self' && id === principal.id;
}

/** Throws if the principal must not write any object of a kind. */
export function checkMayWrite(principal: Principal, kind: string, title: string): void {
  const access = botAccess(kind);
  if (principal.isAdmin || access === 'full' || access === 'own') return;
  throw new ApiProblem(
    403,
    NO_PRIVILEGE,
    `Only admins can write ${withArticle(title)}; this key belongs to a bot.`,
  );
}

/** The service's error number for owners without write privilege. */
export const NO_PRIVILEGE = 635;
