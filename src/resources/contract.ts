import type * as z from 'zod';

/** The values of one object, in the shape of requests: ids where responses have Refs. */
export type Body = Readonly<Record<string, unknown>>;

export type Operation = 'create' | 'get' | 'list' | 'update' | 'delete';

/** One field of a resource: how requests write it, how responses show it, what it refers to. */
export interface Field {
  readonly write?: WriteRule;
  readonly read?: ReadRule;
  /** The objects that a value names. */
  readonly refers?: (value: never) => readonly Reference[];
  /** Whether the field is a module with endpoints of its own, PUT, GET and DELETE. */
  readonly isModule?: boolean;
  /** Where secrets stand below the value: pointers, `*` for every key, '' for the value itself. Sealed in the store. */
  readonly secrets?: readonly string[];
  /** Whether only DELETE is there, as for a certificate of a domain. */
  readonly isDetachable?: boolean;
}

export interface WriteRule {
  readonly schema: z.ZodType;
  readonly create: 'required' | 'optional' | 'refused';
  /** What an update does that leaves the field out: keep it, or empty it. */
  readonly update: 'keeps' | 'empties' | 'refused';
  /** Value when a creation leaves the field out, and when an update empties it. */
  readonly standard?: unknown;
  readonly codes?: FieldCodes;
}

/** Numbers of errors that the service has for this field alone. */
export interface FieldCodes {
  readonly missing?: number;
  readonly bad?: number;
  /** For values right below it, by their name, be it one that is not known. */
  readonly below?: Readonly<Record<string, number>>;
}

export interface ReadRule {
  readonly name: string;
  readonly schema: z.ZodType;
  /** The value in a response; undefined leaves it out. */
  readonly show: (body: Body, reading: Reading) => unknown;
}

/** What showing an object needs besides its body. */
export interface Reading {
  readonly id: string;
  readonly service: string;
  readonly refOf: (id: string) => Ref;
  /** What delivery says of an event destination. */
  readonly statusOf: (id: string) => unknown;
  /** PEM of the certificate of the key that a route signs its SAML requests with. */
  readonly samlCertificate: (route: string) => string;
}

export interface Ref {
  readonly id: string;
  readonly uri: string;
}

/** One use of an id in a request. */
export interface Reference {
  readonly id: string;
  /** JSON pointer below the field. */
  readonly pointer: string;
  readonly kinds: readonly string[];
  /** Number of the error when there is no such object. */
  readonly missing: number;
  /** Number of the error when the id is not of these kinds. */
  readonly wrong: number;
}

/** Reads of other objects while one is written. */
export interface Lookup {
  readonly get: (
    id: string,
  ) => Promise<{ readonly id: string; readonly kind: string; readonly body: Body } | null>;
  readonly claimant: (claim: { readonly space: string; readonly value: string }) => Promise<string | null>;
}

/** A request's values on their way to the store. */
export interface Draft {
  readonly id: string;
  /** All values: those of the request over those that were there. */
  readonly body: Body;
  /** What the request gave. */
  readonly given: Body;
  /** Null when the object is made. */
  readonly before: Body | null;
  readonly principal: Principal;
  readonly lookup: Lookup;
  readonly ports: Ports;
  readonly now: string;
}

/** Who makes a request. */
export interface Principal {
  readonly id: string;
  /** E-mail of a user, or name of a bot. */
  readonly subject: string;
  readonly isAdmin: boolean;
  readonly keyId: string;
}

/** What completing an object needs of the outside. */
export interface Ports {
  readonly service: string;
  /** PEM of the certificate of the key that a route signs its SAML requests with. */
  readonly samlCertificate: (route: string) => string;
  /** A secret of lower-case letters and digits. */
  readonly secretText: (length: number) => string;
  /** What is wrong with an event source, or null. */
  readonly sourceProblem: (
    source: Body,
  ) => { readonly number: number; readonly key: string; readonly says: string } | null;
}

/** What completing gives: the body to keep, and values that only this one response shows. */
export interface Completed {
  readonly body: Body;
  readonly once?: Body;
}

/** One kind of object: routes, validation, storage, events, OpenAPI and contract tests come from it. */
export interface Resource {
  /** Name of the object in audit events: `api_key`. */
  readonly kind: string;
  /** What messages call it: `API key`. */
  readonly title: string;
  readonly path: string;
  readonly prefix: string;
  /** Key of the array in lists. */
  readonly listKey: string;
  readonly operations: readonly Operation[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly codes: ResourceCodes;
  /** The object whose id the path carries before this one's. */
  readonly parent?: { readonly kind: string; readonly parameter: string };
  /** Which field holds the id of the object that this one is removed with. */
  readonly partOf?: string;
  /** Parts that responses show in full. */
  readonly children?: { readonly kind: string; readonly name: string };
  /** Whether the edge has to be compiled again when such an object changes. */
  readonly drivesEdge?: boolean;
  /** Checks what a schema cannot, and makes what is derived. */
  readonly complete?: (draft: Draft) => Completed | Promise<Completed>;
  /** What this object alone may have; `number` is that of the error when it is taken. */
  readonly claims?: (
    body: Body,
  ) => readonly { readonly space: string; readonly value: string; readonly number: number }[];
  /** Why an object cannot be deleted although nothing refers to it. */
  readonly keep?: (
    id: string,
    body: Body,
    lookup: Lookup,
  ) => Promise<{ readonly number: number; readonly says: string } | null>;
  /** What the event of this object leaves out. */
  readonly secretKeys?: readonly string[];
}

export interface ResourceCodes {
  readonly notFound: number;
  readonly inUse: number;
  /** Refuses an update with nothing in it. */
  readonly emptyUpdate?: number;
}
