import { type ServiceNames, serviceNames, unfolded, problemBody } from './folding.ts';
import type { Logins } from './application_logins.ts';
import { type ApiAnswer, type ApiRequest, type ArrivedRequest, Json, type Wiring } from './contract.ts';
import { EDGE_FILE_PATH, edgeFileRoute } from './document_routes.ts';
import { corsFields, preflightAnswer } from './cors.ts';
import { rateLimit, wrongKeyLimit } from './limits.ts';
import type { PathIds } from './objects.ts';
import { openApi } from './openapi.ts';
import { DOCUMENT_PAGE } from './page.ts';
import type { Principal } from '../resources/contract.ts';
import { ApiProblem } from '../resources/problem.ts';
import { principalOf } from './principal.ts';
import { hasBody, jsonBody, noBody } from './request.ts';
import { NOT_ALLOWED, isAddressAllowed } from './restriction.ts';
import type { Route } from './route.ts';
import { revisionFields, waitIn, whenEverywhere } from './revision_fields.ts';
import { type Routed, router } from './router.ts';
import { checkQuery, routesOf } from './routes.ts';
import { StoreError, StoreUnavailable, type View } from '../store/port.ts';

/** API version that every request must specify. */
const VERSION = '2';

type Handler = (request: ArrivedRequest, ids: PathIds) => Promise<ApiAnswer> | ApiAnswer;

/** The API without its socket. */
export interface Api {
  /** Never throws. */
  readonly answer: (request: ArrivedRequest) => Promise<ApiAnswer>;
  /** The answer to what is not a request that could be routed. */
  readonly refuse: (problem: ApiProblem) => ApiAnswer;
}

/** The API as functions from requests to answers. */
export function managementApi<User, Session>(wiring: Wiring, logins: Logins<User, Session>): Api {
  const names = serviceNames(wiring.ports.service);
  const routes = routesOf(wiring, logins);
  const find = router(handlersOf(wiring, routes, names));
  const methodsOf = (path: string) =>
    routes.filter((each) => patternOf(each.path).test(path)).map(({ method }) => method);
  const respond = async (request: ArrivedRequest, path: string): Promise<ApiAnswer> => {
    const found = find(request.method, path);
    if (found === null) throw new ApiProblem(404, null, 'Not Found', { path });
    return found.handler(request, found.ids);
  };

  const refuse = (problem: ApiProblem): ApiAnswer => {
    const operation = wiring.newId('op');
    const { status, fields, text } = problemAnswer(problem, names, operation);
    return { status, fields: { ...fields, [names.operationField]: operation }, text };
  };
  const answer = async (request: ArrivedRequest): Promise<ApiAnswer> => {
    // Some clients send `//api_keys` if their base URL ends in a slash.
    const path = request.url.pathname.replaceAll(/\/{2,}/g, '/');
    const origin = request.field('origin');
    const preflight = origin === null ? null : preflightAnswer(request, origin, () => methodsOf(path));
    if (preflight !== null) return preflight;
    const operation = wiring.newId('op');
    const { status, fields, text } = await respond(request, path).catch((error: Error) =>
      problemAnswer(error, names, operation),
    );
    const { nodes } = wiring.store;
    const revision = nodes === undefined ? {} : revisionFields(nodes);
    const further = {
      ...revision,
      [names.operationField]: operation,
      ...(origin !== null && corsFields(origin)),
    };
    return { status, fields: { ...fields, ...further }, text };
  };
  return { answer, refuse };
}

/** What answers each operation. */
function handlersOf(wiring: Wiring, routes: readonly Route[], names: ServiceNames): Routed<Handler>[] {
  const admit = authorized(wiring, names);
  const { emptyAsJson = false } = wiring.options;
  const handled = routes.map((route): Routed<Handler> => {
    const handler: Handler = async (request, ids) => {
      const asking = await admit(request);
      const { isForAll, url } = waitIn(request.method, request.url);
      checkQuery(route, url);
      const body = await bodyOf(route, request, wiring, names);
      const answer = answered(route, await route.handle(asking, ids, body, url), emptyAsJson);
      const { nodes } = wiring.store;
      if (!isForAll || nodes === undefined) return answer;
      return { ...answer, fields: { ...answer.fields, ...(await whenEverywhere(nodes)) } };
    };
    return [route.method, route.path, handler];
  });
  const edgeFile: Handler = async (request) =>
    json(200, await edgeFileRoute(wiring, await admit(request), request));
  // The API description is public; it needs no key.
  let description: ApiAnswer | undefined;
  const describe = () => (description ??= json(200, openApi(routes, wiring.ports.service, emptyAsJson)));
  return [
    ...handled,
    ['GET', EDGE_FILE_PATH, edgeFile],
    ['PUT', EDGE_FILE_PATH, edgeFile],
    ['GET', '/openapi.json', describe],
    ['GET', '/docs', () => DOCUMENT_ANSWER],
  ];
}

const DOCUMENT_ANSWER: ApiAnswer = {
  status: 200,
  fields: { 'content-type': 'text/html; charset=UTF-8' },
  text: DOCUMENT_PAGE,
};

function problemAnswer(error: Error, names: ServiceNames, operation: string): ApiAnswer {
  const problem = problemOf(error);
  const { status, fields, text } = json(problem.status, problemBody(problem, names, operation));
  const retryAfter = problem.details['retry_after'] ?? (status === 503 ? '1' : null);
  return { status, fields: { ...fields, ...(retryAfter !== null && { 'retry-after': retryAfter }) }, text };
}

/** The service's number for an internal error. */
const INTERNAL = 20_000;

function problemOf(error: Error): ApiProblem {
  if (error instanceof ApiProblem) return error;
  if (error instanceof StoreUnavailable)
    return new ApiProblem(error.why === 'full' ? 507 : 503, INTERNAL, error.message);
  // Such as a node that has not read the new key of the secrets yet.
  if (error instanceof StoreError)
    return new ApiProblem(503, INTERNAL, `The store cannot be read: ${error.message}.`);
  const details = { cause: error.message };
  return new ApiProblem(500, INTERNAL, 'An internal error occurred; this is a bug.', details);
}

/** Authenticates and authorizes a request; throws the documented errors. */
function authorized(wiring: Wiring, names: ServiceNames): (request: ArrivedRequest) => Promise<ApiRequest> {
  const count = rateLimit(wiring.options.requestsPerMinute, wiring.nowMs);
  const limitWrong = wrongKeyLimit(wiring.nowMs);
  const identified = async ({ address, field }: ArrivedRequest, view: View): Promise<Principal> => {
    if (!(await isAddressAllowed(address, 'api', view, wiring.areAllowing))) {
      throw new ApiProblem(403, NOT_ALLOWED, `The address ${address} is not allowed to use the API.`);
    }
    return principalOf(field('authorization') ?? undefined, view);
  };
  return async (request) => {
    const { address, url } = request;
    const readmit = (view: View) => identified(request, view);
    const principal = await wiring.store.read(readmit).catch((error: unknown) => {
      throw limitWrong(error, address);
    });
    const version = request.field(names.versionField);
    if (version === null) {
      const message = `The request has no header ${names.versionField}; send ${VERSION}.`;
      throw new ApiProblem(400, 218, message, { service: wiring.ports.service });
    }
    if (version !== VERSION) {
      throw new ApiProblem(400, 217, `The version '${version}' is unknown; supported versions: ${VERSION}.`);
    }
    count();
    const isForced = url.search !== '' && url.searchParams.get('force') === 'true';
    return { principal, base: url.origin, address, readmit, isForced, isAbandoned: request.isAbandoned };
  };
}

async function bodyOf(
  route: Route,
  request: ArrivedRequest,
  wiring: Wiring,
  names: ServiceNames,
): Promise<unknown> {
  if (route.body === 'none') return noBody(request);
  if (route.body === 'ignored') return undefined;
  if (route.body === 'optional' && !hasBody(request)) return {};
  const body = await jsonBody(request, { bytes: wiring.options.bodyLimitBytes });
  return names.isFoldingClient(request.field('user-agent') ?? '') ? unfolded(body) : body;
}

function answered({ status }: Route, value: unknown, emptyAsJson: boolean): ApiAnswer {
  if (status !== 204) return json(status, value);
  return emptyAsJson ? json(200, {}) : { status, fields: {}, text: null };
}

const JSON_FIELDS = { 'content-type': 'application/json' };

function json(status: number, value: unknown): ApiAnswer {
  return { status, fields: JSON_FIELDS, text: value instanceof Json ? value.text : JSON.stringify(value) };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
