import { USER_KIND } from '../resources/accounts.ts';
import { maySee } from '../resources/permissions.ts';
import { USERS_PATH } from '../resources/present.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { Operation, Resource } from '../resources/contract.ts';
import { RESOURCES } from '../resources/table.ts';
import { type Logins, loginRoutes } from './application_logins.ts';
import type { Wiring } from './contract.ts';
import type { Route, RouteAbout } from './route.ts';
import { list } from './list.ts';
import {
  type PathIds,
  create,
  read,
  readModule,
  remove,
  removeModule,
  replaceModule,
  update,
} from './objects.ts';
import { pageQuery, queryOf } from './request.ts';
import { AGENT_COMMANDS, ONLINE, type Online, commandAgent, listOnline, readOnline } from './sessions.ts';
import { createSource, listSources, readSource, removeSource, updateSource } from './sources.ts';

/** All routes of the API. */
export function routesOf(wiring: Wiring, online: Online, logins: Logins): Route[] {
  return [
    ...RESOURCES.flatMap((resource) => objectRoutes(wiring, resource)),
    ...RESOURCES.flatMap((resource) => moduleRoutes(wiring, resource)),
    ...sourceRoutes(wiring),
    ...onlineRoutes(online),
    ...loginRoutes(logins),
    userRoute(wiring),
  ];
}

function objectRoutes(wiring: Wiring, resource: Resource): Route[] {
  const { path, title, prefix } = resource;
  const one = `${path}/{id}`;
  const about = (operation: Operation): RouteAbout => ({ title, operation, resource });
  const routes: Readonly<Record<Operation, Route>> = {
    create: {
      method: 'POST',
      path,
      status: 201,
      body: 'json',
      about: about('create'),
      handle: (asking, ids, raw) => create(wiring, asking, resource, ids, raw),
    },
    get: {
      method: 'GET',
      path: one,
      status: 200,
      body: 'none',
      about: about('get'),
      handle: (asking, ids) => read(wiring, asking, resource, ids),
    },
    list: {
      method: 'GET',
      path,
      status: 200,
      body: 'none',
      about: about('list'),
      handle: (asking, _ids, _raw, url) => list(wiring, asking, resource, pageQuery(url, prefix)),
    },
    update: {
      method: 'PATCH',
      path: one,
      status: 200,
      body: 'json',
      about: about('update'),
      handle: (asking, ids, raw) => update(wiring, asking, resource, ids, raw),
    },
    delete: {
      method: 'DELETE',
      path: one,
      status: 204,
      body: 'none',
      about: about('delete'),
      handle: (asking, ids) => remove(wiring, asking, resource, ids),
    },
  };
  return resource.operations.map((operation) => routes[operation]);
}

function moduleRoutes(wiring: Wiring, resource: Resource): Route[] {
  return Object.entries(resource.fields).flatMap(([name, { isModule, isDetachable }]): Route[] => {
    const path = `${resource.path}/{id}/${isDetachable === true ? name.replace(/_id$/, '') : name}`;
    const about = (operation: RouteAbout['operation']): RouteAbout => ({
      title: `module ${name} of an ${resource.title}`,
      operation,
      resource,
      module: name,
    });
    const removal: Route = {
      method: 'DELETE',
      path,
      status: 204,
      body: 'none',
      about: about('delete'),
      handle: (asking, ids) => removeModule(wiring, asking, resource, name, ids),
    };
    if (isDetachable === true) return [removal];
    if (isModule !== true) return [];
    return [
      {
        method: 'PUT',
        path,
        status: 200,
        body: 'json',
        about: about('replace'),
        handle: (asking, ids, raw) => replaceModule(wiring, asking, resource, name, ids, raw),
      },
      {
        method: 'GET',
        path,
        status: 200,
        body: 'none',
        about: about('get'),
        handle: (asking, ids) => readModule(wiring, asking, resource, name, ids),
      },
      removal,
    ];
  });
}

/** Users of the account can be referenced, but not created through the API. */
function userRoute({ store }: Wiring): Route {
  const title = 'user';
  return {
    method: 'GET',
    path: `${USERS_PATH}/{id}`,
    status: 200,
    body: 'none',
    about: { title, operation: 'get' },
    handle: async ({ base, principal }, ids) => {
      const id = ids['id']!;
      const user = await store.read((view) => view.get(id));
      if (user?.kind !== USER_KIND || !maySee(principal, user))
        throw new ApiProblem(404, COMMON.notFound, `The ${title} '${id}' does not exist.`);
      const { created_at: createdAt, email } = user.body;
      return { created_at: createdAt, email, id, uri: `${base}${USERS_PATH}/${id}` };
    },
  };
}

function aboutSource(operation: Operation): RouteAbout {
  return { title: 'event source', operation };
}

function idOf(ids: PathIds): string {
  return ids['subscription_id']!;
}

function sourceRoutes(wiring: Wiring): Route[] {
  const path = '/event_subscriptions/{subscription_id}/sources';
  const one = `${path}/{type}`;
  return [
    {
      method: 'POST',
      path,
      status: 201,
      body: 'json',
      about: aboutSource('create'),
      handle: (asking, ids, raw) => createSource(wiring, asking, idOf(ids), raw),
    },
    {
      method: 'GET',
      path,
      status: 200,
      body: 'none',
      about: aboutSource('list'),
      handle: (asking, ids) => listSources(wiring, asking, idOf(ids)),
    },
    {
      method: 'GET',
      path: one,
      status: 200,
      body: 'none',
      about: aboutSource('get'),
      handle: (asking, ids) => readSource(wiring, asking, idOf(ids), ids['type']!),
    },
    {
      method: 'PATCH',
      path: one,
      status: 200,
      body: 'json',
      about: aboutSource('update'),
      handle: (asking, ids, raw) => updateSource(wiring, asking, idOf(ids), ids['type']!, raw),
    },
    {
      method: 'DELETE',
      path: one,
      status: 204,
      body: 'none',
      about: aboutSource('delete'),
      handle: (asking, ids) => removeSource(wiring, asking, idOf(ids), ids['type']!),
    },
  ];
}

function onlineRoutes(online: Online): Route[] {
  const reads = ONLINE.flatMap((resource): Route[] => [
    {
      method: 'GET',
      path: resource.path,
      status: 200,
      body: 'none',
      about: { title: resource.title, operation: 'list' },
      handle: (asking, _ids, _raw, url) =>
        listOnline(online, resource, asking, pageQuery(url, resource.prefix)),
    },
    {
      method: 'GET',
      path: `${resource.path}/{id}`,
      status: 200,
      body: 'none',
      about: { title: resource.title, operation: 'get' },
      handle: (asking, ids) => readOnline(online, resource, asking, ids['id']!),
    },
  ]);
  const commands = AGENT_COMMANDS.map((command): Route => ({
    method: 'POST',
    path: `/tunnel_sessions/{id}/${command}`,
    status: 204,
    // One client sends only the id here, which is not JSON.
    body: 'ignored',
    about: { title: 'tunnel session', operation: command },
    handle: (_asking, ids) => commandAgent(online, ids['id']!, command),
  }));
  return [...reads, ...commands];
}

/** Refuses query parameters for operations other than paginated lists. */
export function checkQuery({ about, path }: Route, url: URL): void {
  const isPaged = about.operation === 'list' && !path.endsWith('/sources');
  if (!isPaged) queryOf(url, []);
}
