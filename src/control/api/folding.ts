import type { ApiProblem } from '../resources/problem.ts';

/** Names in the API that derive from the service name. */
export interface ServiceNames {
  readonly versionField: string;
  readonly operationField: string;
  readonly errorCode: (number: number) => string;
  /** Whether a client changes the case of keys, even in maps, as the published SDK of the service does. */
  readonly isFoldingClient: (userAgent: string) => boolean;
}

export function serviceNames(service: string): ServiceNames {
  const code = service.toUpperCase().replaceAll('-', '_');
  return {
    versionField: `${service}-version`,
    operationField: `${service}-operation-id`,
    errorCode: (number) => `ERR_${code}_${number}`,
    isFoldingClient: (userAgent) => userAgent.startsWith(`${service}-api-typescript/`),
  };
}

/** Maps whose names have capitals, which case-folding clients change: header names, extensions of SSH. */
const NAME_MAPS: ReadonlySet<string> = new Set(['add', 'headers', 'extensions']);

/**
 * Reverts how the published SDK changes keys of maps: it sends `X-Foo-Bar` as `_x-_foo-_bar`. Only names
 * in these maps contain capitals.
 */
export function unfolded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unfolded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      NAME_MAPS.has(key) ? unfoldedNames(each) : unfolded(each),
    ]),
  );
}

function unfoldedNames(map: unknown): unknown {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return unfolded(map);
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

/** The body of an error response. `details` is always an object, because one client fails on anything else. */
export function problemBody(
  { status, number, message, details }: ApiProblem,
  names: ServiceNames,
  operation: string,
): Readonly<Record<string, unknown>> {
  return {
    ...(number !== null && { error_code: names.errorCode(number) }),
    status_code: status,
    msg: message,
    details: { ...details, operation_id: operation },
  };
}
