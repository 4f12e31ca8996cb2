import { setImmediate } from 'node:timers/promises';
import { withArticle } from '../../diagnostics/message_text.ts';
import type { Reference, Resource, ResourceObject } from '../resources/contract.ts';
import { ApiProblem } from '../resources/problem.ts';
import { resourceOfId, resourceOfKind } from '../resources/table.ts';
import type { Transaction } from '../store/port.ts';

/** Checks that every referenced id belongs to an object of the right kind. */
export async function checkReferences(uses: readonly Reference[], transaction: Transaction): Promise<void> {
  for (const { id, kinds, pointer, missing, wrong } of uses) {
    const resource = resourceOfId(id);
    if (resource === undefined || !kinds.includes(resource.kind)) {
      const wanted = kinds.map((kind) => withArticle(resourceOfKind(kind).title)).join(' or ');
      throw new ApiProblem(400, wrong, `'${id}' is not the id of ${wanted}.`, { pointer });
    }
    if ((await transaction.get(id)) === null) {
      throw new ApiProblem(400, missing, `The ${resource.title} '${id}' does not exist.`, { pointer });
    }
  }
}

export async function refuseIfUsed(
  resource: Resource,
  object: ResourceObject,
  transaction: Transaction,
): Promise<void> {
  const parts = new Set((await partsOf(object, transaction)).map(({ id }) => id));
  const users = (await transaction.referrers(object.id)).filter((id) => !parts.has(id));
  if (users.length > 0) {
    const message = `The ${resource.title} ${object.id} is used by ${users[0]!}${users.length > 1 ? ` and ${users.length - 1} more` : ''}.`;
    throw new ApiProblem(400, resource.codes.inUse, message, { used_by: users.slice(0, 10).join(' ') });
  }
  const kept = await resource.keep?.(object.id, object.body, transaction);
  if (kept !== undefined && kept !== null) throw new ApiProblem(400, kept.number, kept.message);
}

const OWNED = ['api_key', 'tunnel_credential', 'ssh_public_key'];

/** Kinds of parts by the kind of object that they are removed with. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  ip_policy: ['ip_policy_rule'],
  https_edge: ['https_edge_route'],
  bot_user: OWNED,
  service_user: OWNED,
};

/** Parts read in one turn of the event loop. */
const SLICE = 500;

/** The parts of an object, newest first; many are read in several turns of the event loop. */
export async function partsOf(
  { id: parent, kind }: ResourceObject,
  transaction: Transaction,
): Promise<readonly ResourceObject[]> {
  const found: ResourceObject[] = [];
  for (const part of PARTS[kind] ?? []) {
    for (let last: { readonly beforeId?: string } | null = {}; last !== null;) {
      const slice: readonly ResourceObject[] = await transaction.list(part, {
        parent,
        limit: SLICE,
        ...last,
      });
      for (const each of slice) found.push(each);
      last = slice.length < SLICE ? null : { beforeId: slice.at(-1)!.id };
      if (last !== null) await setImmediate();
    }
  }
  return found;
}
