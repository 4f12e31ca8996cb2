import { USER_KIND } from '../resources/accounts.ts';
import { type Binding, kubernetesOperators } from '../resources/kubernetes_operators.ts';
import { maySee } from '../resources/permissions.ts';
import { USERS_PATH } from '../resources/present.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { Operation, Ref, Resource, ResourceObject } from '../resources/contract.ts';
import { endpoints } from '../resources/endpoints.ts';
import { RESOURCES } from '../resources/table.ts';
import { vaultSecrets, vaults } from '../resources/vaults.ts';
import { type Logins, loginRoutes } from './application_logins.ts';
import type { ApiRequest, Shown, Wiring } from './contract.ts';
import { isForcible } from './restriction.ts';
import { type Route, route } from './route.ts';
import { list } from './list.ts';
import { deadLetterRoutes } from './dead_letters.ts';
import { fieldsOfResource, listFilter } from './list_filter.ts';
import {
  type ObjectRequest,
  type PathIds,
  changeModule,
  create,
  existing,
  read,
  readModule,
  remove,
  replaceModule,
  update,
} from './objects.ts';
import { isSet, pageQuery, queryOf } from './request.ts';
import { AGENT_COMMANDS, ONLINE, commandAgent, listOnline, readOnline } from './sessions.ts';
import {
  type SourceRequest,
  createSource,
  listSources,
  readSource,
  removeSource,
  updateSource,
} from './sources.ts';

/** All routes of the API. */
export function routesOf<User, Session>(wiring: Wiring, logins: Logins<User, Session>): Route[] {
  return [
    ...RESOURCES.flatMap((resource) => objectRoutes(wiring, resource)),
    ...RESOURCES.flatMap((resource) => moduleRoutes(wiring, resource)),
    ...sourceRoutes(wiring),
    ...deadLetterRoutes(wiring),
    secretsRoute(wiring),
    boundRoute(wiring),
    ...onlineRoutes(wiring),
    ...loginRoutes(logins),
    userRoute(wiring),
  ];
}

function objectRoutes(wiring: Wiring, resource: Resource): Route[] {
  const { path, title, prefix } = resource;
  const one = `${path}/{id}`;
  const subject = { title, resource };
  const about = (asking: ApiRequest, ids: PathIds): ObjectRequest => ({ wiring, asking, resource, ids });
  const routes: Readonly<Record<Operation, Route>> = {
    create: route('create', path, subject, (asking, ids, raw) => create(about(asking, ids), raw)),
    get: route('get', one, subject, (asking, ids) => read(about(asking, ids))),
    list: route('list', path, subject, (asking, ids, _raw, url) =>
      list(about(asking, ids), pageQuery(url, prefix, resource.choices)),
    ),
    update: route('update', one, subject, (asking, ids, raw) => update(about(asking, ids), raw)),
    delete: route('delete', one, subject, (asking, ids) => remove(about(asking, ids))),
  };
  return resource.operations.map((operation) => routes[operation]);
}

function moduleRoutes(wiring: Wiring, resource: Resource): Route[] {
  return Object.entries(resource.fields).flatMap(([name, { isModule, isDetachable }]): Route[] => {
    const path = `${resource.path}/{id}/${isDetachable === true ? name.replace(/_id$/, '') : name}`;
    const subject = { title: `module ${name} of an ${resource.title}`, resource, module: name };
    const about = (asking: ApiRequest, ids: PathIds): ObjectRequest => ({ wiring, asking, resource, ids });
    const removal = route('delete', path, subject, (asking, ids) =>
      changeModule(about(asking, ids), name, undefined),
    );
    if (isDetachable === true) return [removal];
    if (isModule !== true) return [];
    return [
      route('replace', path, subject, (asking, ids, raw) => replaceModule(about(asking, ids), name, raw)),
      route('get', path, subject, (asking, ids) => readModule(about(asking, ids), name)),
      removal,
    ];
  });
}

/** Users of the account can be referenced, but not created through the API. */
function userRoute({ store }: Wiring): Route {
  const title = 'user';
  return route('get', `${USERS_PATH}/{id}`, { title }, async ({ base, principal }, ids) => {
    const id = ids['id']!;
    const user = await store.read((view) => view.get(id));
    if (user?.kind !== USER_KIND || !maySee(principal, user))
      throw new ApiProblem(404, COMMON.notFound, `The ${title} '${id}' does not exist.`);
    const { created_at: createdAt, email } = user.body;
    return { created_at: createdAt, email, id, uri: `${base}${USERS_PATH}/${id}` };
  });
}

/** The secrets of a vault. */
function secretsRoute(wiring: Wiring): Route {
  return sublistRoute(wiring, { of: vaults, name: 'secrets', resource: vaultSecrets }, ({ id }) => {
    return ({ vault }) => (vault as Ref).id === id;
  });
}

/** The endpoints that a Kubernetes operator binds: those that one of its selectors matches. */
function boundRoute(wiring: Wiring): Route {
  const place = { of: kubernetesOperators, name: 'bound_endpoints', resource: endpoints };
  return sublistRoute(wiring, place, ({ body }) => {
    const { endpoint_selectors: selectors = [] } = (body['binding'] ?? {}) as Binding;
    const fields = fieldsOfResource(endpoints);
    const filters = selectors.map((selector) => listFilter(selector, fields, wiring.nowMs));
    return (endpoint) =>
      (endpoint['bindings'] as readonly string[]).includes('kubernetes') &&
      filters.some((fits) => fits(endpoint));
  });
}

interface SublistPlace {
  readonly of: Resource;
  readonly name: string;
  /** What the list consists of. */
  readonly resource: Resource;
}

/** A list of the objects that belong to another one. */
function sublistRoute(
  wiring: Wiring,
  { of, name, resource }: SublistPlace,
  belongsTo: (owner: ResourceObject) => (shown: Shown) => boolean,
): Route {
  const { title, prefix } = resource;
  return route('list', `${of.path}/{id}/${name}`, { title, resource }, async (asking, ids, _raw, url) => {
    const query = pageQuery(url, prefix, resource.choices);
    const owner = await wiring.store.read((view) => existing({ asking, resource: of, ids }, view));
    const uri = `${asking.base}${of.path}/${owner.id}/${name}`;
    return list({ wiring, asking, resource }, query, { uri, belongs: belongsTo(owner) });
  });
}

function sourceRoutes(wiring: Wiring): Route[] {
  const path = '/event_subscriptions/{subscription_id}/sources';
  const one = `${path}/{type}`;
  const subject = { title: 'event source' };
  const about = (asking: ApiRequest, ids: PathIds): SourceRequest => ({
    wiring,
    asking,
    subscription: ids['subscription_id']!,
    type: ids['type'] ?? '',
  });
  return [
    route('create', path, subject, (asking, ids, raw) => createSource(about(asking, ids), raw)),
    route('list', path, subject, (asking, ids) => listSources(about(asking, ids))),
    route('get', one, subject, (asking, ids) => readSource(about(asking, ids))),
    // A published client sends nothing, because no field has to be given.
    {
      ...route('update', one, subject, (asking, ids, raw) => updateSource(about(asking, ids), raw)),
      body: 'optional',
    },
    route('delete', one, subject, (asking, ids) => removeSource(about(asking, ids))),
  ];
}

function onlineRoutes({ online }: Wiring): Route[] {
  const reads = ONLINE.flatMap((resource): Route[] => {
    const { path, title, prefix } = resource;
    return [
      route('list', path, { title }, (asking, _ids, _raw, url) =>
        listOnline(online, resource, asking, pageQuery(url, prefix)),
      ),
      route('get', `${path}/{id}`, { title }, (asking, ids) =>
        readOnline(online, resource, asking, ids['id']!),
      ),
    ];
  });
  const commands = AGENT_COMMANDS.map((command) =>
    route(
      'command',
      `/tunnel_sessions/{id}/${command}`,
      { title: 'tunnel session', operation: command },
      (_asking, ids) => commandAgent(online, ids['id']!, command),
    ),
  );
  return [...reads, ...commands];
}

/** Refuses query parameters for operations other than paginated lists. */
export function checkQuery({ about, method, path }: Route, url: URL): void {
  const isPaged = about.operation === 'list' && !path.endsWith('/sources');
  if (isPaged) return;
  // Throws unless it is true or false.
  isSet(queryOf(url, method !== 'GET' && isForcible(about.resource?.kind) ? ['force'] : []), 'force');
}
