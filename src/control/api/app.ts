import { Hono } from 'hono';
import { type ServiceNames, serviceNames, unfolded, problemBody } from './folding.ts';
import { cors } from './cors.ts';
import { type Logins, NO_LOGINS } from './application_logins.ts';
import type { ApiRequest, Caller, Wiring } from './contract.ts';
import { EDGE_FILE_PATH, edgeFileRoute } from './document_routes.ts';
import { openApi } from './openapi.ts';
import { DOCUMENT_PAGE } from './page.ts';
import { ApiProblem } from '../resources/problem.ts';
import { principalOf } from './principal.ts';
import { rateLimit } from './rate.ts';
import { jsonBody, noBody } from './request.ts';
import { isAddressAllowed } from './restriction.ts';
import type { Route } from './route.ts';
import { checkQuery, routesOf } from './routes.ts';
import { NO_AGENTS, type Online } from './sessions.ts';

/** API version that every request must specify. */
const VERSION = '2';

/** The API as one function from request to response. Never throws. */
export function managementApi(
  wiring: Wiring,
  online: Online = NO_AGENTS,
  logins: Logins = NO_LOGINS,
): (request: Request, caller: Caller) => Promise<Response> {
  const app = new Hono<{ Bindings: Caller; Variables: { operation: string } }>({
    // Some clients send `//api_keys` if their base URL ends in a slash.
    getPath: (request) => new URL(request.url).pathname.replaceAll(/\/{2,}/g, '/'),
  });
  const names = serviceNames(wiring.ports.service);
  const routes = routesOf(wiring, online, logins);
  const admit = authorized(wiring, names);
  const methodsOf = (path: string) =>
    routes.filter((route) => patternOf(route.path).test(path)).map(({ method }) => method);

  app.use('*', async (context, next): Promise<Response | undefined> => {
    const operation = wiring.newId('op');
    context.set('operation', operation);
    const answer = cors(context.req.raw, () => methodsOf(context.req.path));
    if (answer.preflight !== null) return answer.preflight;
    await next();
    context.res.headers.set(names.operationField, operation);
    for (const [name, value] of answer.fields) context.res.headers.set(name, value);
    return undefined;
  });

  for (const route of routes) {
    app.on(route.method, honoPath(route.path), async (context) => {
      const { raw: request } = context.req;
      const asking = await admit(request, context.env);
      const url = new URL(request.url);
      checkQuery(route, url);
      const body = await bodyOf(route, request, wiring, names);
      const ids = context.req.param() as Readonly<Record<string, string>>;
      return answered(route, await route.handle(asking, ids, body, url), wiring.options.emptyAsJson === true);
    });
  }
  app.on(['GET', 'PUT'], EDGE_FILE_PATH, async (context) => {
    const asking = await admit(context.req.raw, context.env);
    return json(200, await edgeFileRoute(wiring, asking, context.req.raw));
  });
  // The API description is public; it needs no key.
  app.get('/openapi.json', () => json(200, openApi(routes, wiring.ports.service)));
  app.get('/docs', (context) => context.html(DOCUMENT_PAGE));

  app.notFound((context) =>
    json(404, { status_code: 404, msg: 'Not Found', details: { path: context.req.path } }),
  );
  app.onError((error, context) => {
    const problem =
      error instanceof ApiProblem
        ? error
        : new ApiProblem(500, null, 'An internal error occurred; this is a bug.', { cause: error.message });
    return json(problem.status, problemBody(problem, names, context.get('operation')));
  });

  return async (request, caller) => app.fetch(request, caller);
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Authenticates and authorizes a request; throws the documented errors. */
function authorized(
  wiring: Wiring,
  names: ServiceNames,
): (request: Request, caller: Caller) => Promise<ApiRequest> {
  const count = rateLimit(wiring.options.requestsPerMinute, wiring.nowMs);
  return async (request, caller) => {
    const principal = await wiring.store.read(async (view) => {
      if (!(await isAddressAllowed(caller.address, 'api', view))) {
        throw new ApiProblem(403, 220, `The address ${caller.address} is not allowed to use the API.`);
      }
      return principalOf(request.headers.get('authorization') ?? undefined, view);
    });
    const version = request.headers.get(names.versionField);
    if (version === null) {
      throw new ApiProblem(400, 218, `The request has no header ${names.versionField}; send ${VERSION}.`);
    }
    if (version !== VERSION) {
      throw new ApiProblem(400, 217, `The version '${version}' is unknown; supported versions: ${VERSION}.`);
    }
    count();
    return { principal, base: new URL(request.url).origin };
  };
}

async function bodyOf(route: Route, request: Request, wiring: Wiring, names: ServiceNames): Promise<unknown> {
  if (route.body === 'none') return noBody(request);
  if (route.body === 'ignored') return undefined;
  const body = await jsonBody(request, wiring.options.bodyLimitBytes);
  return names.isFoldingClient(request.headers.get('user-agent') ?? '') ? unfolded(body) : body;
}

function answered({ status }: Route, value: unknown, emptyAsJson: boolean): Response {
  if (status !== 204) return json(status, value);
  return emptyAsJson ? json(200, {}) : new Response(null, { status });
}

function json(status: number, value: unknown): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: JSON_TYPE,
  });
}

/** `/ip_policies/{id}` → `/ip_policies/:id`. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
