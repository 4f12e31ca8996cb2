import { eventDestinations } from '../resources/event_destinations.ts';
import { NO_PRIVILEGE, checkMayWrite } from '../resources/permissions.ts';
import { ApiProblem } from '../resources/problem.ts';
import type { Shown } from './contract.ts';
import { type ObjectRequest, existing } from './objects.ts';
import { type Route, route } from './route.ts';
import type { Wiring } from './contract.ts';

/** Events that a destination refused for good: they are listed, and sent again on demand. */

const LISTED = 100;
const PATH = '/event_destinations/{id}/dead_letters';

async function listDeadLetters(request: ObjectRequest): Promise<Shown> {
  const { wiring, asking } = request;
  // They contain audit events, whose delivery bots may not configure.
  if (!asking.principal.isAdmin)
    throw new ApiProblem(403, NO_PRIVILEGE, 'Only admins can read dead letters; this key belongs to a bot.');
  return wiring.store.read(async (view) => {
    const { id } = await existing(request, view);
    const letters = await view.deadLetters(id, LISTED);
    const uri = asking.base + PATH.replace('{id}', id);
    const shown = letters.map(({ reason, event }) => ({ event: JSON.parse(event) as unknown, reason }));
    return { dead_letters: shown, uri };
  });
}

async function redeliver(request: ObjectRequest): Promise<void> {
  const { wiring, asking, resource } = request;
  checkMayWrite(asking.principal, resource.kind, resource.title);
  const revived = await wiring.store.write(async (transaction) => {
    const { id } = await existing(request, transaction);
    await transaction.revive(id);
    return id;
  });
  wiring.deliveries.wake([revived]);
}

export function deadLetterRoutes(wiring: Wiring): Route[] {
  const title = 'dead letter';
  const resource = eventDestinations;
  return [
    route('list', PATH, { title }, (asking, ids) => listDeadLetters({ wiring, asking, resource, ids })),
    route('command', `${PATH}/redeliver`, { title, operation: 'redeliver' }, (asking, ids) =>
      redeliver({ wiring, asking, resource, ids }),
    ),
  ];
}
