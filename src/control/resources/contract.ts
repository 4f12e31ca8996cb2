import type * as z from 'zod';
import type { FieldCodes } from '../../filters/facts.ts';

/** The values of one object in the shape of requests: ids where responses have Refs. */
export type Body = Readonly<Record<string, unknown>>;

export type Operation = 'create' | 'get' | 'list' | 'update' | 'delete';

/** One field of a resource: its form in requests and in responses, and its references. */
export interface Field {
  readonly write?: WriteRule;
  readonly read?: ReadRule;
  /** The references in a value. */
  readonly refers?: (value: never) => readonly Reference[];
  /** Whether the field is a module with its own endpoints: PUT, GET and DELETE. */
  readonly isModule?: boolean;
  /**
   * Places of secrets below the value: pointers, `*` for every key, '' for the value itself. They are encrypted
   * in the store.
   */
  readonly secrets?: readonly string[];
  /** Whether the only endpoint is DELETE, as for the certificate of a domain. */
  readonly isDetachable?: boolean;
}

export interface WriteRule {
  readonly schema: z.ZodType;
  readonly create: 'required' | 'optional' | 'refused';
  /** What an update without the field does: keep it, empty it, or fail. */
  readonly update: 'keeps' | 'empties' | 'refused';
  /** Value if a creation omits the field, or an update empties it. */
  readonly standard?: unknown;
  readonly codes?: FieldCodes;
}

interface ReadRule {
  readonly name: string;
  readonly schema: z.ZodType;
  /** The value in a response; undefined omits it. */
  readonly show: (body: Body, reading: Reading) => unknown;
}

/** Inputs for showing an object, besides its body. */
export interface Reading {
  readonly id: string;
  readonly service: string;
  readonly refOf: (id: string) => Ref;
  /** Delivery status of an event destination. */
  readonly statusOf: (id: string) => unknown;
  /** PEM certificate of the key with which a route signs its SAML requests. */
  readonly samlCertificate: (route: string) => string;
}

export interface Ref {
  readonly id: string;
  readonly uri: string;
}

/** One id in a request. */
export interface Reference {
  readonly id: string;
  /** JSON pointer below the field. */
  readonly pointer: string;
  readonly kinds: readonly string[];
  /** Error number if the object does not exist. */
  readonly missing: number;
  /** Error number if the id is of another kind. */
  readonly wrong: number;
}

/** Reads of other objects during a write. */
interface Lookup {
  readonly get: (
    id: string,
  ) => Promise<{ readonly id: string; readonly kind: string; readonly body: Body } | null>;
  readonly claimant: (claim: { readonly space: string; readonly value: string }) => Promise<string | null>;
}

/** The values of a request before they are stored. */
export interface Draft {
  readonly id: string;
  /** All values: those of the request merged into the existing ones. */
  readonly body: Body;
  /** The values of the request. */
  readonly given: Body;
  /** Null if the object is created. */
  readonly before: Body | null;
  readonly principal: Principal;
  readonly lookup: Lookup;
  readonly ports: Ports;
  readonly now: string;
}

/** The caller of a request. */
export interface Principal {
  readonly id: string;
  /** E-mail of a user, or name of a bot. */
  readonly subject: string;
  readonly isAdmin: boolean;
  readonly keyId: string;
}

/** Outside inputs for completing an object. */
export interface Ports {
  readonly service: string;
  /** PEM certificate of the key with which a route signs its SAML requests. */
  readonly samlCertificate: (route: string) => string;
  /** A random string of lower-case letters and digits. */
  readonly secretText: (length: number) => string;
  /** Whether event destinations may be files. */
  readonly allowsEventFiles: boolean;
  /** Whether a host in a callback URL is certainly not allowed. */
  readonly refusesCallback: (host: string) => boolean;
  /** The problem of an event source, or null. */
  readonly sourceProblem: (
    source: Body,
  ) => { readonly number: number; readonly key: string; readonly message: string } | null;
}

/** The result of completing an object: the body to store, and values that only this response shows. */
export interface Completed {
  readonly body: Body;
  readonly once?: Body;
}

/** One kind of object: routes, validation, storage, events, OpenAPI and contract tests are derived from it. */
export interface Resource {
  /** Name of the object in audit events: `api_key`. */
  readonly kind: string;
  /** Name in messages: `API key`. */
  readonly title: string;
  readonly path: string;
  readonly prefix: string;
  /** Key of the array in lists. */
  readonly listKey: string;
  readonly operations: readonly Operation[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly codes: ResourceCodes;
  /** The parent object, whose id precedes this one's in the path. */
  readonly parent?: { readonly kind: string; readonly parameter: string };
  /** The field with the id of the object whose removal removes this one. */
  readonly partOf?: string;
  /** Parts that responses show in full. */
  readonly children?: { readonly kind: string; readonly name: string };
  /** Whether a change requires the edge to be recompiled. */
  readonly drivesEdge?: boolean;
  /** Checks what a schema cannot, and computes derived values. */
  readonly complete?: (draft: Draft) => Completed | Promise<Completed>;
  /** Unique values of this object; `number` is the error if one is taken. */
  readonly claims?: (
    body: Body,
  ) => readonly { readonly space: string; readonly value: string; readonly number: number }[];
  /** Why an object cannot be deleted although no other object refers to it. */
  readonly keep?: (
    id: string,
    body: Body,
    lookup: Lookup,
  ) => Promise<{ readonly number: number; readonly message: string } | null>;
  /** Fields that the object's events omit. */
  readonly secretKeys?: readonly string[];
}

interface ResourceCodes {
  readonly notFound: number;
  readonly inUse: number;
  /** Error number for an update without fields. */
  readonly emptyUpdate?: number;
}
