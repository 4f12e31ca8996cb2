import type { Body, Principal } from './contract.ts';
import { ApiProblem } from './problem.ts';

/**
 * What keys of bots may do with a kind of object. Admins may do everything. What a bot may not see is not there for it:
 * lists leave it out, and its address is 404.
 */
export type BotAccess =
  /** Everything. */
  | 'full'
  /** Everything with what the bot owns; nothing with what others do. */
  | 'own'
  /** Reading the bot itself. */
  | 'self'
  /** Reading. */
  | 'read'
  | 'none';

/**
 * Kinds that are not `full`. Keys, credentials, bots and users belong to their owner. Audit events report what
 * every owner does, so that only admins decide where events go.
 */
// table: what keys of bots may do
const BOTS: Readonly<Record<string, BotAccess>> = {
  api_key: 'own',
  tunnel_credential: 'own',
  bot_user: 'self',
  user: 'none',
  event_subscription: 'read',
  event_destination: 'read',
};

export function botAccess(kind: string): BotAccess {
  return Object.hasOwn(BOTS, kind) ? BOTS[kind]! : 'full';
}

interface Seen {
  readonly id: string;
  readonly kind: string;
  readonly body: Body;
}

/** Whether some objects of a kind are not for this principal to see. */
export function isPartlyHidden(principal: Principal, kind: string): boolean {
  return !principal.isAdmin && ['own', 'self', 'none'].includes(botAccess(kind));
}

export function maySee(principal: Principal, { id, kind, body }: Seen): boolean {
  if (!isPartlyHidden(principal, kind)) return true;
  const access = botAccess(kind);
  if (access === 'own') return body['owner_id'] === principal.id;
  return access === 'self' && id === principal.id;
}

/** Throws when the principal may not write objects of a kind at all. */
export function checkMayWrite(principal: Principal, kind: string, title: string): void {
  const access = botAccess(kind);
  if (principal.isAdmin || access === 'full' || access === 'own') return;
  throw new ApiProblem(403, NO_PRIVILEGE, `Only admins may write a ${title}; this key belongs to a bot.`);
}

/** The service says so of owners without the privilege to write. */
const NO_PRIVILEGE = 635;
