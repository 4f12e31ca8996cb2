import type { Operation, Resource } from '../resources/contract.ts';
import type { ApiRequest } from './contract.ts';
import type { PathIds } from './objects.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** How an operation is requested and answered. */
interface Form {
  readonly method: Method;
  readonly status: 200 | 201 | 204;
  /** Whether the body is parsed as JSON, may be absent for an empty object, is refused or ignored. */
  readonly body: 'json' | 'optional' | 'none' | 'ignored';
}

const READ: Form = { method: 'GET', status: 200, body: 'none' };
// table: forms of operations
const FORMS = {
  create: { method: 'POST', status: 201, body: 'json' },
  get: READ,
  list: READ,
  update: { method: 'PATCH', status: 200, body: 'json' },
  replace: { method: 'PUT', status: 200, body: 'json' },
  delete: { method: 'DELETE', status: 204, body: 'none' },
  // One client sends only the id, which is not JSON.
  command: { method: 'POST', status: 204, body: 'ignored' },
} as const satisfies Readonly<Record<string, Form>>;

/** One operation of the API. */
export interface Route extends Form {
  /** With parameters in braces: `/ip_policies/{id}`. */
  readonly path: string;
  readonly handle: (asking: ApiRequest, ids: PathIds, raw: unknown, url: URL) => unknown;
  /** What the operation is about, for the API description. */
  readonly about: RouteAbout;
}

interface RouteAbout {
  readonly title: string;
  readonly operation: Operation | 'replace' | 'redeliver' | 'restart' | 'stop';
  readonly resource?: Resource;
  readonly module?: string;
}

type Subject = Omit<RouteAbout, 'operation'> & { readonly operation?: RouteAbout['operation'] };

/** A route of the form of its operation. */
export function route(
  form: keyof typeof FORMS,
  path: string,
  subject: Subject,
  handle: Route['handle'],
): Route {
  const about = { operation: form as RouteAbout['operation'], ...subject };
  return { ...FORMS[form], path, about, handle };
}
