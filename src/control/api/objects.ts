import type { Body, Resource, ResourceObject } from '../resources/contract.ts';
import { parseModule, parseWrite, placedInModule, referencesIn } from '../resources/parse.ts';
import { checkMayWrite, maySee } from '../resources/permissions.ts';
import { present, presentJson, presentModule, sorted } from '../resources/present.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { resourceOfKind } from '../resources/table.ts';
import type { StoredObject, View } from '../store/port.ts';
import { wholeSeconds } from '../../events/timestamps.ts';
import { change } from './change.ts';
import { showingOf } from './change_events.ts';
import { type ApiRequest, Json, type OnlineKind, type Shown, type Wiring } from './contract.ts';

/** Ids in a path: `id`, and the parent's id by its parameter name. */
export type PathIds = Readonly<Record<string, string>>;

/** A request about objects of one kind. */
export interface ObjectRequest {
  readonly wiring: Wiring;
  readonly asking: ApiRequest;
  readonly resource: Resource;
  readonly ids: PathIds;
}

/** Creates an object from a request body. */
export async function create(request: ObjectRequest, raw: unknown): Promise<Shown> {
  const { wiring, asking, resource, ids } = request;
  checkMayWrite(asking.principal, resource.kind, resource.title);
  const given = parseWrite(resource, 'create', raw, ids);
  const values = (await resource.prepare?.(given)) ?? given;
  return change(wiring, asking, async ({ transaction, put }) => {
    const parent = await parentOf(request, transaction);
    const id = wiring.newId(resource.prefix);
    const made = { id, parent, given: values, before: null };
    const { object, once } = await completed(request, transaction, made);
    await put(resource, object, 'created');
    return sorted({ ...(await show(request, object, transaction)), ...once });
  });
}

export async function read(request: ObjectRequest): Promise<Shown | Json> {
  const online = onlineOf(request).find(({ id }) => id === request.ids['id']);
  if (online !== undefined) return online;
  return request.wiring.store.read(
    async (view) => new Json(await showJson(request, await existing(request, view), view)),
  );
}

/** What connected agents have of this kind, newest first. */
export function onlineOf({ wiring, asking: { base }, resource }: Omit<ObjectRequest, 'ids'>): Shown[] {
  if (resource.ofAgents === undefined) return [];
  const all = wiring.online.list(resource.kind as OnlineKind, base);
  return all.map((each) => sorted({ ...each, uri: `${base}${resource.path}/${each.id}` }));
}

function refuseOnline(request: ObjectRequest): void {
  const { resource, ids } = request;
  if (!onlineOf(request).some(({ id }) => id === ids['id'])) return;
  const message = `The ${resource.title} '${ids['id']!}' belongs to an agent, so it cannot be written.`;
  throw new ApiProblem(400, resource.ofAgents!.refused, message);
}

/** Changes the given fields and keeps the others. */
export function update(request: ObjectRequest, raw: unknown): Promise<Shown> {
  const { wiring, asking, resource, ids } = request;
  checkMayWrite(asking.principal, resource.kind, resource.title);
  refuseOnline(request);
  const values = parseWrite(resource, 'update', raw, ids);
  return change(wiring, asking, async ({ transaction, put }) => {
    const { id, parent, body: before } = await existing(request, transaction);
    const given = { ...emptied(resource), ...values };
    const { object, once } = await completed(request, transaction, { id, parent, given, before });
    await put(resource, object, 'updated');
    return sorted({ ...(await show(request, object, transaction)), ...once });
  });
}

export function remove(request: ObjectRequest): Promise<void> {
  const { wiring, asking, resource } = request;
  checkMayWrite(asking.principal, resource.kind, resource.title);
  refuseOnline(request);
  return change(wiring, asking, async (changing) => {
    await changing.remove(resource, await existing(request, changing.transaction));
  });
}

/** Replaces a module of an object. */
export async function replaceModule(request: ObjectRequest, name: string, raw: unknown): Promise<unknown> {
  const { value, pointer } = parseModule(name, request.resource.fields[name]!, raw, request.ids);
  try {
    return await changeModule(request, name, value);
  } catch (error) {
    throw placedInModule(error, name, pointer);
  }
}

export function readModule(request: ObjectRequest, name: string): Promise<unknown> {
  return request.wiring.store.read(async (view) => {
    const object = await existing(request, view);
    const shown = presentModule(request.resource, object, name, showingOf(request.wiring, request.asking));
    if (shown === null) throw new ApiProblem(404, COMMON.notFound, `The module ${name} is not configured.`);
    return shown;
  });
}

/** Sets a module, or removes it; removing an absent module is not an error. */
export function changeModule(
  request: ObjectRequest,
  name: string,
  module: Body | undefined,
): Promise<unknown> {
  const { wiring, asking, resource } = request;
  checkMayWrite(asking.principal, resource.kind, resource.title);
  return change(wiring, asking, async ({ transaction, put }) => {
    const before = await existing(request, transaction);
    const { [name]: _former, ...others } = before.body;
    const body = module === undefined ? others : { ...others, [name]: module };
    const object = connected(resource, before.id, before.parent, body);
    await put(resource, object, 'updated');
    return presentModule(resource, object, name, showingOf(request.wiring, request.asking));
  });
}

interface Values {
  readonly id: string;
  readonly parent: string | null;
  readonly given: Body;
  readonly before: Body | null;
}

/** The object with its computed values. */
export async function completed(
  { wiring, asking: { principal }, resource }: Omit<ObjectRequest, 'ids'>,
  view: View,
  { id, parent, given, before }: Values,
): Promise<{ readonly object: StoredObject; readonly once: Body }> {
  const now = wholeSeconds(wiring.nowMs());
  const own = resource.parent === undefined ? {} : { [resource.parent.parameter]: parent };
  const start = before ?? { ...standards(resource), ...own, created_at: now };
  const body = { ...start, ...given };
  const draft = { id, body, given, before, principal, lookup: view, ports: wiring.ports, now };
  const { body: whole, once = {} } = (await resource.complete?.(draft)) ?? { body };
  return { object: connected(resource, id, parent, whole), once };
}

/** The object with its references and claims. */
export function connected(resource: Resource, id: string, parent: string | null, body: Body): StoredObject {
  const owner = parent ?? (resource.partOf === undefined ? null : String(body[resource.partOf]));
  return {
    id,
    kind: resource.kind,
    parent: owner,
    body,
    references: [...new Set(referencesIn(resource, body).map((use) => use.id))],
    claims: (resource.claims?.(body) ?? []).map(({ space, value }) => ({ space, value })),
  };
}

/** Default values of omitted fields at creation. */
function standards(resource: Resource): Body {
  const fields = Object.entries(resource.fields).filter(([, { write }]) => write?.standard !== undefined);
  return Object.fromEntries(fields.map(([name, { write }]) => [name, write!.standard]));
}

/** Fields that an update empties if they are omitted. */
function emptied(resource: Resource): Body {
  const fields = Object.entries(resource.fields).filter(([, { write }]) => write?.update === 'empties');
  return Object.fromEntries(fields.map(([name, { write }]) => [name, write!.standard]));
}

async function parentOf({ asking, resource, ids }: ObjectPath, view: View): Promise<string | null> {
  const { parent } = resource;
  if (parent === undefined) return null;
  const owner = { asking, resource: resourceOfKind(parent.kind), ids: { id: ids[parent.parameter]! } };
  return (await existing(owner, view)).id;
}

type ObjectPath = Omit<ObjectRequest, 'wiring'>;

/** The object of a path; throws the documented 404, also if the caller must not see the object. */
export async function existing(path: ObjectPath, view: View): Promise<ResourceObject> {
  const { asking, resource, ids } = path;
  const { id = '' } = ids;
  const { parent, title, codes, kind, prefix } = resource;
  await parentOf(path, view);
  const object = await view.get(id);
  const isPlaced = parent === undefined || object?.parent === ids[parent.parameter];
  const isThere = object?.kind === kind && isPlaced && maySee(asking.principal, object);
  if (!isThere) {
    const number = id.startsWith(`${prefix}_`) ? codes.notFound : COMMON.notFound;
    throw new ApiProblem(404, number, `The ${title} '${id}' does not exist.`);
  }
  return object;
}

/** An object in the form of responses, with its parts. */
export async function show(
  request: Omit<ObjectRequest, 'ids'>,
  object: ResourceObject,
  view: View,
): Promise<Shown> {
  const { resource } = request;
  const showing = showingOf(request.wiring, request.asking);
  const { children, related } = resource;
  if (children === undefined) return present(resource, object, showing, await related?.(object.body, view));
  const part = resourceOfKind(children.kind);
  const parts = await view.list(children.kind, { parent: object.id, limit: Number.MAX_SAFE_INTEGER });
  const shown = parts.toReversed().map((each) => present(part, each, showing));
  return present(resource, object, showing, { [children.name]: shown });
}

/** Like `show`, as JSON. */
export async function showJson(
  request: Omit<ObjectRequest, 'ids'>,
  object: ResourceObject,
  view: View,
): Promise<string> {
  const { wiring, asking, resource } = request;
  if (isWhole(resource)) return presentJson(resource, object, showingOf(wiring, asking));
  return JSON.stringify(await show(request, object, view));
}

/** Whether objects of a resource are shown without anything that is read from the store besides them. */
function isWhole({ children, related }: Resource): boolean {
  return children === undefined && related === undefined;
}
