import type { Body } from '../resources/contract.ts';
import { parseWrite } from '../resources/parse.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { resourceOfKind } from '../resources/table.ts';
import type { StoredObject } from '../store/port.ts';
import { type Change, change } from './change.ts';
import type { Asking, Wiring } from './contract.ts';
import { FILE_KINDS, NAME_KEY, kindOfBackend, memberOf, nameOf, unspoken } from './edge_file.ts';
import { completed } from './objects.ts';

/** One step that brings a store to an edge file. */
export interface Step {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: string;
  readonly name: string;
}

/** Undoes the transaction of a plan that is only to be looked at. */
class PlanOnly extends Error {}

/**
 * Brings a store to an edge file in one transaction: what the file has is made or changed, what it does not have is
 * deleted, everything that a file has no words for stays. With `isDry` nothing is kept, but all of it is checked.
 */
export async function applyFile(
  wiring: Wiring,
  asking: Asking,
  document: Body,
  isDry: boolean,
): Promise<readonly Step[]> {
  const steps: Step[] = [];
  try {
    await change(
      wiring,
      asking,
      async (changing) => {
        const existing = await changing.transaction.all(FILE_KINDS);
        await bring({ wiring, asking, changing, steps, existing, kept: new Set() }, document);
      },
      () => {
        // The plan is whole and checked now; keeping it is another matter.
        if (isDry) throw new PlanOnly();
      },
    );
  } catch (error) {
    if (!(error instanceof PlanOnly)) throw error;
  }
  return steps;
}

interface Applying {
  readonly wiring: Wiring;
  readonly asking: Asking;
  readonly changing: Change;
  readonly steps: Step[];
  readonly existing: readonly StoredObject[];
  /** Ids of objects that the file has. */
  readonly kept: Set<string>;
}

type Named = Readonly<Record<string, Body>>;

async function bring(applying: Applying, document: Body): Promise<void> {
  const policies = (document['ip_policies'] ?? {}) as Named;
  const backends = (document['backends'] ?? {}) as Named;
  const edges = ((document['edges'] as Body | undefined)?.['https'] ?? {}) as Named;
  const ids = new Map<string, string>();
  for (const [name, { rules, ...notes }] of Object.entries(policies)) {
    const policy = await put(applying, 'ip_policy', name, notes, null);
    ids.set(`ip_policy ${name}`, policy);
    for (const rule of rules as readonly Body[]) {
      await put(
        applying,
        'ip_policy_rule',
        `${name} ${String(rule['action'])} ${String(rule['cidr'])}`,
        { ...rule, ip_policy_id: policy },
        policy,
      );
    }
  }
  const open = new Set<string>();
  for (const name of Object.keys(backends)) await putBackend(applying, backends, name, ids, open);
  for (const [name, { routes, ...edge }] of Object.entries(edges)) {
    const id = await put(applying, 'https_edge', name, edge, null);
    for (const route of (routes ?? []) as readonly Body[]) {
      const title = `${name} ${String(route['match_type'])} ${String(route['match'])}`;
      await put(applying, 'https_edge_route', title, withIds(route, ids), id);
    }
  }
  await removeOthers(applying);
}

/** Makes the children of a backend first. */
async function putBackend(
  applying: Applying,
  backends: Named,
  name: string,
  ids: Map<string, string>,
  open: Set<string>,
): Promise<string> {
  const known = ids.get(`backend ${name}`);
  if (known !== undefined) return known;
  const backend = backends[name];
  const kind = backend === undefined ? undefined : kindOfBackend(backend);
  if (backend === undefined || kind === undefined || open.has(name)) {
    throw new ApiProblem(400, COMMON.badValue, `The backend '${name}' is not there, or leads to itself.`);
  }
  open.add(name);
  const { [memberOf(kind)!]: member, ...notes } = backend;
  const child = (each: string) => putBackend(applying, backends, each, ids, open);
  let values: Body = member as Body;
  if (kind === 'weighted_backend') {
    const children: Record<string, unknown> = {};
    for (const [each, weight] of Object.entries(member as Body)) children[await child(each)] = weight;
    values = { backends: children };
  } else if (kind === 'failover_backend') {
    const children: string[] = [];
    for (const each of member as readonly string[]) children.push(await child(each));
    values = { backends: children };
  }
  const id = await put(applying, kind, name, { ...notes, ...values }, null);
  ids.set(`backend ${name}`, id);
  return id;
}

function withIds(route: Body, ids: ReadonlyMap<string, string>): Body {
  const backend = route['backend'] as Body | undefined;
  const restriction = route['ip_restriction'] as Body | undefined;
  const idOf = (thing: string, name: unknown): string => ids.get(`${thing} ${String(name)}`) ?? String(name);
  return {
    ...route,
    ...(backend && { backend: { ...backend, backend_id: idOf('backend', backend['backend_id']) } }),
    ...(restriction && {
      ip_restriction: {
        ...restriction,
        ip_policy_ids: (restriction['ip_policy_ids'] as string[]).map((name) => idOf('ip_policy', name)),
      },
    }),
  };
}

/** Makes an object, or changes the one of this name; gives its id. */
async function put(
  { wiring, asking, changing, steps, existing, kept }: Applying,
  kind: string,
  name: string,
  given: Body,
  parent: string | null,
): Promise<string> {
  const resource = resourceOfKind(kind);
  const { values } = parseWrite(resource, 'create', given, {});
  const before = existing.find(
    (object) =>
      object.kind === kind &&
      !kept.has(object.id) &&
      (parent === null ? nameOf(object) === name : isSamePart(object, parent, values)),
  );
  const id = before?.id ?? wiring.newId(resource.prefix);
  kept.add(id);
  const { object } = await completed(wiring, asking, resource, changing.transaction, {
    id,
    parent,
    given: values,
    before: null,
  });
  const stays = unspoken(resource).filter((key) => before?.body[key] !== undefined);
  const body = {
    ...object.body,
    ...Object.fromEntries(stays.map((key) => [key, before!.body[key]])),
    ...(parent === null && name !== id && { [NAME_KEY]: name }),
    created_at: before?.body['created_at'] ?? object.body['created_at'],
  };
  if (before !== undefined && canonical(before.body) === canonical(body)) return id;
  const action = before === undefined ? 'create' : 'update';
  steps.push({ action, kind, name });
  await changing.put(resource, { ...object, body }, `${action}d`);
  return id;
}

/** A rule is known by its range, a route by what it matches. */
function isSamePart({ kind, parent, body }: StoredObject, owner: string, values: Body): boolean {
  const keys = kind === 'ip_policy_rule' ? ['cidr', 'action'] : ['match_type', 'match'];
  return parent === owner && keys.every((key) => body[key] === values[key]);
}

/** Routes go before backends and policies, which may not be removed while something leads to them. */
const REMOVAL_ORDER = ['https_edge_route', 'https_edge', 'weighted_backend', 'failover_backend'];

function rank({ kind }: StoredObject): number {
  const place = REMOVAL_ORDER.indexOf(kind);
  return place < 0 ? REMOVAL_ORDER.length : place;
}

async function removeOthers({ changing, steps, existing, kept }: Applying): Promise<void> {
  const others = existing.filter(({ id }) => !kept.has(id)).toSorted((one, other) => rank(one) - rank(other));
  for (const object of others) {
    const current = await changing.transaction.get(object.id);
    // Parts have gone with what they are a part of.
    if (current === null) continue;
    steps.push({ action: 'delete', kind: object.kind, name: nameOf(object) });
    await changing.remove(resourceOfKind(object.kind), current);
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}
