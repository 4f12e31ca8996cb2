import type { Operation, Resource } from '../resources/contract.ts';
import type { ApiRequest } from './contract.ts';
import type { PathIds } from './objects.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** One operation of the API. */
export interface Route {
  readonly method: Method;
  /** With parameters in braces: `/ip_policies/{id}`. */
  readonly path: string;
  readonly status: 200 | 201 | 204;
  /** Whether the body is parsed as JSON, refused or ignored. */
  readonly body: 'json' | 'none' | 'ignored';
  readonly handle: (asking: ApiRequest, ids: PathIds, raw: unknown, url: URL) => unknown;
  /** What the operation is about, for the API description. */
  readonly about: RouteAbout;
}

export interface RouteAbout {
  readonly title: string;
  readonly operation: Operation | 'replace' | 'restart' | 'stop';
  readonly resource?: Resource;
  readonly module?: string;
}
