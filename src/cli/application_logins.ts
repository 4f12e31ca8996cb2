import {
  type ApplicationSession,
  type Logins,
  SESSION_PREFIX,
  USER_PREFIX,
} from '../api/application_logins.ts';
import { digest } from '../crypto/digest.ts';
import type { RouteConfig } from '../edge/document/schema.ts';
import type { EdgeRuntime } from '../edge/runtime.ts';
import type { Store } from '../store/port.ts';

/** An end of a user's sessions, or of one, as the store keeps it. */
const KIND = 'login_end';

interface Kept {
  readonly of: 'user' | 'session';
  readonly id: string;
  readonly ms: number;
}

/** The logins of a plane for the management API; what was ended before a restart stays ended. */
export async function keptLogins(
  store: Store,
  runtime: EdgeRuntime,
  { newId, nowMs }: { readonly newId: (prefix: string) => string; readonly nowMs: () => number },
): Promise<Logins> {
  const { logins } = runtime;
  const carryOut = ({ of, id, ms }: Kept): void =>
    void (of === 'user' ? logins.revokeUser(id, ms) : logins.revokeSession(id, ms));
  for (const { body } of await store.read((view) => view.all([KIND]))) carryOut(body as unknown as Kept);
  const end = async (of: Kept['of'], id: string): Promise<void> => {
    const kept: Kept = { of, id, ms: nowMs() };
    // First on the disk: what was acknowledged holds.
    await store.write((transaction) =>
      transaction.insert({
        id: newId('end'),
        kind: KIND,
        parent: null,
        body: { ...kept },
        references: [],
        claims: [],
      }),
    );
    carryOut(kept);
  };
  const ended = async (of: Kept['of'], shown: string): Promise<void> => {
    const rows: readonly { readonly id: string }[] = of === 'user' ? logins.users() : logins.sessions();
    const row = rows.find(({ id }) => shownId(of, id) === shown);
    if (row !== undefined) await end(of, row.id);
  };
  return {
    users: () => logins.users().map((user) => Object.assign({}, user, { id: shownId('user', user.id) })),
    sessions: () =>
      logins.sessions().map((session) =>
        Object.assign({}, session, {
          id: shownId('session', session.id),
          userId: shownId('user', session.userId),
          route: routeOf(runtime, session.gate),
        }),
      ),
    endUser: (id) => ended('user', id),
    endSession: (id) => ended('session', id),
  };
}

const SHOWN_LENGTH = 27;

/** Ids have lower-case letters and digits only, as all others, and are no part of a cookie. */
function shownId(of: Kept['of'], id: string): string {
  const prefix = of === 'user' ? USER_PREFIX : SESSION_PREFIX;
  return `${prefix}_${digest('sha256', [id], 'hex').slice(0, SHOWN_LENGTH)}`;
}

/** The route of a gate, whose name is that of its edge and what the route matches. */
function routeOf(runtime: EdgeRuntime, gate: string): ApplicationSession['route'] {
  for (const [edge, { routes }] of Object.entries(runtime.current().config.edges.https)) {
    for (const { id, match_type: type, match } of routes as readonly RouteConfig[]) {
      if (id !== undefined && gate === `${edge} ${type} ${match}`) return { id, edge };
    }
  }
  return null;
}
