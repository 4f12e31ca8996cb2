import { Hono } from 'hono';
import { type ServiceNames, serviceNames, unfolded, problemBody } from './folding.ts';
import { type Logins, NO_LOGINS } from './application_logins.ts';
import type { ApiRequest, Caller, Wiring } from './contract.ts';
import { EDGE_FILE_PATH, edgeFileRoute } from './document_routes.ts';
import { rateLimit, wrongKeyLimit } from './limits.ts';
import { openApi } from './openapi.ts';
import { DOCUMENT_PAGE } from './page.ts';
import type { Principal } from '../resources/contract.ts';
import { ApiProblem } from '../resources/problem.ts';
import { principalOf } from './principal.ts';
import { jsonBody, noBody } from './request.ts';
import { NOT_ALLOWED, isAddressAllowed } from './restriction.ts';
import type { Route } from './route.ts';
import { checkQuery, routesOf } from './routes.ts';
import { StoreUnavailable } from '../store/port.ts';

/** API version that every request must specify. */
const VERSION = '2';

/** The API as one function from request to response. Never throws. */
export function managementApi(
  wiring: Wiring,
  logins: Logins = NO_LOGINS,
): (request: Request, caller: Caller) => Promise<Response> {
  const app = new Hono<{ Bindings: Caller; Variables: { operation: string } }>({
    // Some clients send `//api_keys` if their base URL ends in a slash.
    getPath: (request) => new URL(request.url).pathname.replaceAll(/\/{2,}/g, '/'),
  });
  const names = serviceNames(wiring.ports.service);
  const routes = routesOf(wiring, logins);
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
  let description: object | undefined;
  app.get('/openapi.json', () =>
    json(200, (description ??= openApi(routes, wiring.ports.service, wiring.options.emptyAsJson))),
  );
  app.get('/docs', (context) => context.html(DOCUMENT_PAGE));

  app.notFound((context) => {
    const problem = new ApiProblem(404, null, 'Not Found', { path: context.req.path });
    return json(404, problemBody(problem, names, context.get('operation')));
  });
  app.onError((error, context) => {
    const problem = problemOf(error);
    const response = json(problem.status, problemBody(problem, names, context.get('operation')));
    const retryAfter = problem.details['retry_after'] ?? (problem.status === 503 ? '1' : null);
    if (retryAfter !== null) response.headers.set('retry-after', retryAfter);
    return response;
  });

  return async (request, caller) => app.fetch(request, caller);
}

/** The service's number for an internal error. */
const INTERNAL = 20_000;

function problemOf(error: Error): ApiProblem {
  if (error instanceof ApiProblem) return error;
  if (error instanceof StoreUnavailable)
    return new ApiProblem(error.why === 'full' ? 507 : 503, INTERNAL, error.message);
  const details = { cause: error.message };
  return new ApiProblem(500, INTERNAL, 'An internal error occurred; this is a bug.', details);
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Authenticates and authorizes a request; throws the documented errors. */
function authorized(
  wiring: Wiring,
  names: ServiceNames,
): (request: Request, caller: Caller) => Promise<ApiRequest> {
  const count = rateLimit(wiring.options.requestsPerMinute, wiring.nowMs);
  const limitWrong = wrongKeyLimit(wiring.nowMs);
  const identified = (request: Request, { address }: Caller): Promise<Principal> =>
    wiring.store.read(async (view) => {
      if (!(await isAddressAllowed(address, 'api', view, wiring.areAllowing))) {
        throw new ApiProblem(403, NOT_ALLOWED, `The address ${address} is not allowed to use the API.`);
      }
      return principalOf(request.headers.get('authorization') ?? undefined, view);
    });
  return async (request, caller) => {
    const principal = await identified(request, caller).catch((error: unknown) => {
      throw limitWrong(error, caller.address);
    });
    const version = request.headers.get(names.versionField);
    if (version === null) {
      throw new ApiProblem(400, 218, `The request has no header ${names.versionField}; send ${VERSION}.`);
    }
    if (version !== VERSION) {
      throw new ApiProblem(400, 217, `The version '${version}' is unknown; supported versions: ${VERSION}.`);
    }
    count();
    const { origin, searchParams } = new URL(request.url);
    const isForced = searchParams.get('force') === 'true';
    return { principal, base: origin, address: caller.address, isForced };
  };
}

async function bodyOf(route: Route, request: Request, wiring: Wiring, names: ServiceNames): Promise<unknown> {
  if (route.body === 'none') return noBody(request);
  if (route.body === 'ignored') return undefined;
  const body = await jsonBody(request, { bytes: wiring.options.bodyLimitBytes });
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

const MAXIMUM_AGE_SECONDS = 600;

interface CorsAnswer {
  /** The complete response to a preflight request. */
  readonly preflight: Response | null;
  /** Fields for the response to the actual request. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** CORS fields: all origins are allowed, because every request needs a key. */
function cors(request: Request, methods: () => readonly string[]): CorsAnswer {
  const origin = request.headers.get('origin');
  if (origin === null) return { preflight: null, fields: [] };
  const fields = [
    ['access-control-allow-origin', origin],
    ['access-control-allow-credentials', 'true'],
    ['vary', 'Origin'],
  ] as const;
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) {
    return { preflight: null, fields };
  }
  const headers = new Headers(fields.map(([name, value]): [string, string] => [name, value]));
  headers.set('access-control-allow-methods', methods().join(', '));
  headers.set('access-control-allow-headers', request.headers.get('access-control-request-headers') ?? '');
  headers.set('access-control-max-age', String(MAXIMUM_AGE_SECONDS));
  return { preflight: new Response(null, { status: 204, headers }), fields };
}
