import { eventDestinations } from '../resources/event_destinations.ts';
import { NO_PRIVILEGE, checkMayWrite } from '../resources/permissions.ts';
import { ApiProblem } from '../resources/problem.ts';
import { DEAD_LETTERS_KEPT, type DeadLetter } from '../store/port.ts';
import type { Json, Wiring } from './contract.ts';
import { type MemoryList, listRows } from './list.ts';
import { type ObjectRequest, existing } from './objects.ts';
import { type PageQuery, pageQuery } from './request.ts';
import { type Route, route } from './route.ts';

/** Events that a destination refused for good: they are listed, and sent again on demand. */

const PREFIX = 'dl';
/** Digits of the largest sequence: ids are in the order of sequences. */
const SEQUENCE_DIGITS = 16;
const TITLE = 'dead letter';
const PATH = '/event_destinations/{id}/dead_letters';

/** A page of the dead letters of a destination, newest first. */
async function listDeadLetters(request: ObjectRequest, query: PageQuery): Promise<Json> {
  const { wiring, asking } = request;
  // They contain audit events, whose delivery bots may not configure.
  if (!asking.principal.isAdmin)
    throw new ApiProblem(403, NO_PRIVILEGE, 'Only admins can read dead letters; this key belongs to a bot.');
  const { uri, rows } = await wiring.store.read(async (view) => {
    const { id } = await existing(request, view);
    const letters = await view.deadLetters(id, DEAD_LETTERS_KEPT);
    return { uri: asking.base + PATH.replace('{id}', id), rows: letters.toReversed() };
  });
  const letters: MemoryList<DeadLetter> = {
    key: 'dead_letters',
    uri,
    title: TITLE,
    rows,
    idOf,
    isInOrder: true,
    show: (letter) => ({
      event: JSON.parse(letter.event) as unknown,
      id: idOf(letter),
      reason: letter.reason,
    }),
  };
  return listRows(letters, query, asking.isAbandoned);
}

function idOf({ sequence }: DeadLetter): string {
  return `${PREFIX}_${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`;
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
  const title = TITLE;
  const resource = eventDestinations;
  return [
    route('list', PATH, { title }, (asking, ids, _raw, url) =>
      listDeadLetters({ wiring, asking, resource, ids }, pageQuery(url, PREFIX)),
    ),
    route('command', `${PATH}/redeliver`, { title, operation: 'redeliver' }, (asking, ids) =>
      redeliver({ wiring, asking, resource, ids }),
    ),
  ];
}
