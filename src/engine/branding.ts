import { memoizeRecurring } from '../caches/recurring.ts';
import type { FieldList } from '../http/fields.ts';
import {
  type IdentityPrefixes,
  type RequestForwarder,
  type ResponseForwarder,
  requestForwarder,
  responseForwarder,
  withoutIdentity,
} from '../http/forwarding.ts';

/** All names that derive from the service name, in one place. */
export interface Branding {
  readonly service: string;
  /** Number to code: `3203` → `ERR_SERVICE_3203`. */
  readonly errorCode: (number: number) => string;
  /** Response field with the code of an error that the edge produced. */
  readonly errorField: string;
  readonly identity: IdentityPrefixes;
  /** A client's fields without the identity fields, which only the edge sets; the same list when it has none. */
  readonly withoutIdentity: (fields: FieldList) => FieldList;
  /** Prepares a client's fields for an upstream of this service. */
  readonly forward: RequestForwarder;
  /** Prepares an upstream's fields for a client. */
  readonly forwardResponse: ResponseForwarder;
  /** Default prefix of session cookies. */
  readonly cookiePrefix: string;
  readonly versionField: string;
}

/** Derives the names; `service` is a lower-case identifier. */
export function brandingOf(service: string, underscores: 'drop' | 'pass' = 'drop'): Branding {
  const errorField = `${service}-error-code`;
  const identity = { auth: `${service}-auth-`, mtls: `${service}-mtls-` };
  const code = service.toUpperCase().replaceAll('-', '_');
  return {
    service,
    errorCode: (number) => `ERR_${code}_${number}`,
    errorField,
    identity,
    withoutIdentity: memoizeRecurring((fields) => withoutIdentity(fields, identity)),
    forward: requestForwarder(identity, underscores === 'pass'),
    forwardResponse: responseForwarder(errorField),
    cookiePrefix: `${service}.`,
    versionField: `${service}-version`,
  };
}
