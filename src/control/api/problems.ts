import type { ApiProblem } from '../resources/problem.ts';
import type { ServiceNames } from './branding.ts';

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
