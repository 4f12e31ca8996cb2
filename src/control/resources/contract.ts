import type * as z from 'zod';
import type { IssuedCertificate } from '../../crypto/issue_certificate.ts';
import type { FieldCodes } from '../../filters/fact_values.ts';

/** The values of one object in the shape of requests: ids where responses have Refs. */
export type Body = Readonly<Record<string, unknown>>;

export type Operation = 'create' | 'get' | 'list' | 'update' | 'delete';

/** One object of the management API. */
export interface ResourceObject {
  /** Sortable by time: lists are ordered by id. */
  readonly id: string;
  readonly kind: string;
  /** The parent object; removing it removes this object too. */
  readonly parent: string | null;
  readonly body: Body;
}

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
  /**
   * What an update without the field does: keep it, empty it, or fail. `keeps_if_empty` also keeps it if the update has an
   * empty list or map besides other fields: a published client sends those for what is not set.
   */
  readonly update: 'keeps' | 'keeps_if_empty' | 'empties' | 'refused';
  /** Value if a creation omits the field, or an update empties it. */
  readonly standard?: unknown;
  readonly codes?: FieldCodes;
  /**
   * Places of texts that are omitted if they are empty, because published clients send them for what is not set:
   * pointers below the value, '' for the value itself, `*` for every key.
   */
  readonly emptyIsUnset?: readonly string[];
  /** Whether members of the value may not be null: leaving them out would change it, not keep it as it is. */
  readonly refusesNulls?: boolean;
}

interface ReadRule {
  /** Name in responses; default: that of the field. */
  readonly name?: string;
  readonly schema: z.ZodType;
  /** Shows the stored value in a response; undefined omits it. */
  readonly show: (value: unknown, reading: Reading) => unknown;
}

/** Inputs for showing a field. */
export interface Reading {
  readonly id: string;
  readonly body: Body;
  readonly service: string;
  readonly refOf: (id: string) => Ref;
  /** Delivery status of an event destination. */
  readonly statusOf: (id: string) => unknown;
  /** PEM certificate of the key with which a route signs its SAML requests. */
  readonly samlCertificate: (route: string) => string;
  /** The online tunnels that carry all labels. */
  readonly tunnelsWith: (labels: Readonly<Record<string, string>>) => readonly Ref[];
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
export interface Lookup {
  readonly get: (id: string) => Promise<ResourceObject | null>;
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

/** A certificate authority; all methods fail if it cannot be used. */
export interface CertificateIssuer {
  /** A new key with a certificate for a host, wildcards allowed. */
  readonly serverCertificate: (host: string, key: 'rsa' | 'ecdsa') => Promise<IssuedCertificate>;
  /** The PEM certificate of a client; `publicKey` is a SubjectPublicKeyInfo. */
  readonly clientCertificate: (name: string, publicKey: Uint8Array) => Promise<string>;
}

/** Outside inputs for completing an object. */
export interface Ports {
  readonly issuer: CertificateIssuer;
  readonly service: string;
  /** PEM certificate of the key with which a route signs its SAML requests. */
  readonly samlCertificate: (route: string) => string;
  /** Ids of the online tunnels that carry all labels. */
  readonly tunnelsWith: (labels: Readonly<Record<string, string>>) => readonly string[];
  /** A random string of lower-case letters and digits. */
  readonly secretText: (length: number) => string;
  /** Whether event destinations may be files. */
  readonly allowsEventFiles: boolean;
  /** Whether a host in a callback URL is certainly not allowed. */
  readonly refusesCallback: (host: string) => boolean;
  /** Whether an agent's endpoint with this id is online. */
  readonly isOnline: (endpoint: string) => boolean;
  /** Why a text is not a filter of endpoints, or null. */
  readonly filterProblem: (text: string) => string | null;
  /** The problem of an event source, or null. */
  readonly sourceProblem: (source: Body) => {
    readonly number: number;
    readonly key: string;
    readonly index?: number;
    readonly message: string;
  } | null;
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
  /** Query parameters of its lists that choose by value and may be repeated: `id`, or `ids`. */
  readonly choices?: readonly string[];
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
  /** Set if reads also show what connected agents have; writes of those are refused with this number. */
  readonly ofAgents?: { readonly refused: number };
  /** Replaces the values of a creation before its transaction starts, for what takes long, such as new keys. */
  readonly prepare?: (given: Body) => Promise<Body>;
  /** Checks what a schema cannot, and computes derived values. */
  readonly complete?: (draft: Draft) => Completed | Promise<Completed>;
  /** Values of other objects that responses show; their fields show nothing by themselves. */
  readonly related?: (body: Body, lookup: Lookup) => Promise<Body>;
  /** Unique values of this object. */
  readonly claims?: (body: Body) => readonly ResourceClaim[];
  /** Why an object cannot be deleted although no other object refers to it. */
  readonly keep?: (
    id: string,
    body: Body,
    lookup: Lookup,
  ) => Promise<{ readonly number: number; readonly message: string } | null>;
  /** Fields that the object's events omit. */
  readonly secretKeys?: readonly string[];
}

interface ResourceClaim {
  readonly space: string;
  readonly value: string;
  /** Error number if it is taken. */
  readonly number: number;
  /** The field that it is made of, if that does not contain the value. */
  readonly field?: string;
}

export interface ResourceCodes {
  readonly notFound: number;
  readonly inUse: number;
  /** Error number for an update without fields. */
  readonly emptyUpdate?: number;
}
