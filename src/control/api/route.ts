import type { Operation, Resource } from '../resources/contract.ts';
import type { ApiRequest } from './contract.ts';
import type { PathIds } from './objects.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** One operation of the API: where it is, what it takes and gives, and how it is done. */
export interface Route {
  readonly method: Method;
  /** With parameters in braces: `/ip_policies/{id}`. */
  readonly path: string;
  readonly status: 200 | 201 | 204;
  /** Whether the body is read as JSON, must not be there, or is not looked at. */
  readonly body: 'json' | 'none' | 'ignored';
  readonly handle: (asking: ApiRequest, ids: PathIds, raw: unknown, url: URL) => unknown;
  /** What the operation is about, for the description of the API. */
  readonly about: RouteAbout;
}

export interface RouteAbout {
  readonly title: string;
  readonly operation: Operation | 'replace' | 'restart' | 'stop';
  readonly resource?: Resource;
  readonly module?: string;
}
