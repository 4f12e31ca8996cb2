import type { Body, Resource } from '../resources/contract.ts';
import { parseModule, parseWrite, placedInModule, referencesIn } from '../resources/parse.ts';
import { checkMayWrite, maySee } from '../resources/permissions.ts';
import { present, presentModule } from '../resources/present.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { resourceOfKind } from '../resources/table.ts';
import type { StoredObject, View } from '../store/port.ts';
import { change, wholeSeconds } from './change.ts';
import type { ApiRequest, Wiring } from './contract.ts';

/** Ids in a path: `id`, and the parent's id by its parameter name. */
export type PathIds = Readonly<Record<string, string>>;

/** An object in the form of responses. */
export type Shown = Readonly<Record<string, unknown>>;

/** Creates an object from a request body. */
export function create(
  wiring: Wiring,
  asking: ApiRequest,
  resource: Resource,
  ids: PathIds,
  raw: unknown,
): Promise<Shown> {
  checkMayWrite(asking.principal, resource.kind, resource.title);
  const values = parseWrite(resource, 'create', raw, ids);
  return change(wiring, asking, async ({ transaction, put }) => {
    const owner = await parentOf(asking, resource, ids, transaction);
    const id = wiring.newId(resource.prefix);
    const { object, once } = await completed(wiring, asking, resource, transaction, {
      id,
      parent: owner,
      given: values,
      before: null,
    });
    await put(resource, object, 'created');
    return { ...(await show(wiring, asking, resource, object, transaction)), ...once };
  });
}

export function read(wiring: Wiring, asking: ApiRequest, resource: Resource, ids: PathIds): Promise<Shown> {
  return wiring.store.read(async (view) =>
    show(wiring, asking, resource, await existing(asking, resource, ids, view), view),
  );
}

/** Changes the given fields and keeps the others. */
export function update(
  wiring: Wiring,
  asking: ApiRequest,
  resource: Resource,
  ids: PathIds,
  raw: unknown,
): Promise<Shown> {
  checkMayWrite(asking.principal, resource.kind, resource.title);
  const values = parseWrite(resource, 'update', raw, ids);
  return change(wiring, asking, async ({ transaction, put }) => {
    const before = await existing(asking, resource, ids, transaction);
    const { object, once } = await completed(wiring, asking, resource, transaction, {
      id: before.id,
      parent: before.parent,
      given: { ...emptied(resource), ...values },
      before: before.body,
    });
    await put(resource, object, 'updated');
    return { ...(await show(wiring, asking, resource, object, transaction)), ...once };
  });
}

export function remove(wiring: Wiring, asking: ApiRequest, resource: Resource, ids: PathIds): Promise<void> {
  checkMayWrite(asking.principal, resource.kind, resource.title);
  return change(wiring, asking, async (changing) => {
    await changing.remove(resource, await existing(asking, resource, ids, changing.transaction));
  });
}

/** Replaces a module of an object. */
export async function replaceModule(
  wiring: Wiring,
  asking: ApiRequest,
  resource: Resource,
  name: string,
  ids: PathIds,
  raw: unknown,
): Promise<unknown> {
  const { value, pointer } = parseModule(name, resource.fields[name]!, raw, ids);
  try {
    return await changeModule(wiring, asking, resource, ids, name, value);
  } catch (error) {
    throw placedInModule(error, name, pointer);
  }
}

export function readModule(
  wiring: Wiring,
  asking: ApiRequest,
  resource: Resource,
  name: string,
  ids: PathIds,
): Promise<unknown> {
  return wiring.store.read(async (view) => {
    const object = await existing(asking, resource, ids, view);
    const shown = presentModule(resource, object, name, showingOf(wiring, asking));
    if (shown === null) throw new ApiProblem(404, COMMON.notFound, `The module ${name} is not configured.`);
    return shown;
  });
}

/** Removes a module; removing an absent module is not an error. */
export async function removeModule(
  wiring: Wiring,
  asking: ApiRequest,
  resource: Resource,
  name: string,
  ids: PathIds,
): Promise<void> {
  await changeModule(wiring, asking, resource, ids, name, undefined);
}

function changeModule(
  wiring: Wiring,
  asking: ApiRequest,
  resource: Resource,
  ids: PathIds,
  name: string,
  module: Body | undefined,
): Promise<unknown> {
  checkMayWrite(asking.principal, resource.kind, resource.title);
  return change(wiring, asking, async ({ transaction, put }) => {
    const before = await existing(asking, resource, ids, transaction);
    const { [name]: _former, ...others } = before.body;
    const body = module === undefined ? others : { ...others, [name]: module };
    const object = connected(resource, before.id, before.parent, body);
    await put(resource, object, 'updated');
    return presentModule(resource, object, name, showingOf(wiring, asking));
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
  wiring: Wiring,
  { principal }: ApiRequest,
  resource: Resource,
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

async function parentOf(
  asking: ApiRequest,
  resource: Resource,
  ids: PathIds,
  view: View,
): Promise<string | null> {
  const { parent } = resource;
  if (parent === undefined) return null;
  const owner = resourceOfKind(parent.kind);
  return (await existing(asking, owner, { id: ids[parent.parameter]! }, view)).id;
}

/** The object of a path; throws the documented 404, also if the caller must not see the object. */
export async function existing(
  asking: ApiRequest,
  resource: Resource,
  ids: PathIds,
  view: View,
): Promise<StoredObject> {
  const { id = '' } = ids;
  const { parent, title, codes, kind, prefix } = resource;
  await parentOf(asking, resource, ids, view);
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
  wiring: Wiring,
  asking: ApiRequest,
  resource: Resource,
  object: StoredObject,
  view: View,
): Promise<Shown> {
  const showing = showingOf(wiring, asking);
  const { children } = resource;
  if (children === undefined) return present(resource, object, showing);
  const part = resourceOfKind(children.kind);
  const parts = await view.list(children.kind, { parent: object.id, limit: Number.MAX_SAFE_INTEGER });
  const shown = parts.toReversed().map((each) => present(part, each, showing));
  return present(resource, object, showing, { [children.name]: shown });
}

/** Context for showing objects in responses to this request. */
function showingOf({ ports, deliveries }: Wiring, { base }: ApiRequest) {
  const { service, samlCertificate } = ports;
  return { base, service, samlCertificate, statusOf: deliveries.statusOf };
}
