import {
  type IdentityPrefixes,
  type RequestForwarder,
  type ResponseForwarder,
  requestForwarder,
  responseForwarder,
} from '../http/forwarding.ts';

/** All spellings that derive from the name of the service, in one place. */
export interface ServiceNaming {
  readonly service: string;
  /** Number to code: `3203` → `ERR_SERVICE_3203`. */
  readonly errorCode: (number: number) => string;
  /** Response field that carries the code of an error made by the edge. */
  readonly errorField: string;
  readonly identity: IdentityPrefixes;
  /** Makes a client's fields fit for an upstream of this service. */
  readonly forward: RequestForwarder;
  /** Makes an upstream's fields fit for a client. */
  readonly giveBack: ResponseForwarder;
  /** Default prefix of session cookies. */
  readonly cookiePrefix: string;
  readonly versionField: string;
}

/** Derives the spellings; `service` is a lower-case identifier. */
export function serviceNaming(service: string): ServiceNaming {
  const errorField = `${service}-error-code`;
  const identity = { auth: `${service}-auth-`, mtls: `${service}-mtls-` };
  const code = service.toUpperCase().replaceAll('-', '_');
  return {
    service,
    errorCode: (number) => `ERR_${code}_${number}`,
    errorField,
    identity,
    forward: requestForwarder(identity),
    giveBack: responseForwarder(errorField),
    cookiePrefix: `${service}.`,
    versionField: `${service}-version`,
  };
}
