import type { Body, ResourceObject } from '../resources/contract.ts';
import type { ModuleReference } from '../../filters/fact_values.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import { MORE_KEY } from '../resources/edge_values.ts';
import { idMember } from '../resources/module_fields.ts';
import { NAME_KEY } from '../resources/policies_document.ts';

/**
 * Maps between edge files and the store. Objects have ids, files have names: an object from a file stores its
 * name in its body, invisible to requests; other objects are named by their id. Members that only files have
 * are stored with the object, too.
 */

export type Mutable = Record<string, unknown>;

export function nameOf({ id, body }: Pick<ResourceObject, 'id' | 'body'>): string {
  return (body[NAME_KEY] as string | undefined) ?? id;
}

/** As `nameOf`, with the description of an object that has no name. */
export function shownName(object: ResourceObject): string {
  const name = nameOf(object);
  const description = object.body['description'];
  if (name !== object.id || typeof description !== 'string' || description === '') return name;
  return `${name} (${description})`;
}

export function moreOf(body: Body): Body {
  return (body[MORE_KEY] as Body | undefined) ?? {};
}

/** Kinds of object that an edge file can contain. */
export const FILE_KINDS: readonly string[] = [
  'ip_policy',
  'ip_policy_rule',
  'static_backend',
  'http_response_backend',
  'weighted_backend',
  'failover_backend',
  'tunnel_group_backend',
  'certificate_authority',
  'tls_certificate',
  'https_edge',
  'https_edge_route',
  'tls_edge',
  'tcp_edge',
];

const BACKENDS: Readonly<Record<string, string>> = {
  static_backend: 'static',
  http_response_backend: 'http_response',
  weighted_backend: 'weighted',
  failover_backend: 'failover',
  tunnel_group_backend: 'tunnel_group',
};

/** The member of a backend in a file, by its kind. */
export function memberOf(kind: string): string | undefined {
  return BACKENDS[kind];
}

/** The kind of a backend in a file. */
export function kindOfBackend(backend: Body): string | undefined {
  return Object.keys(BACKENDS).find((kind) => backend[BACKENDS[kind]!] !== undefined);
}

/** Edges of a file by their family, and the kind of their objects. */
export const EDGE_FAMILIES = [
  ['https', 'https_edge'],
  ['tls', 'tls_edge'],
  ['tcp', 'tcp_edge'],
] as const;

export type Named = ModuleReference['kind'];

/** An edge or route with other names for the objects it refers to. */
export function renamed(thing: Body, rename: (named: Named, id: string) => string): Mutable {
  const result: Mutable = { ...thing };
  for (const { type, references = [] } of MODULE_FACTS.values()) {
    const config = thing[type] as Body | undefined;
    if (config === undefined) continue;
    for (const reference of references) {
      const { key, isList } = idMember(reference);
      const { kind } = reference;
      const name = isList
        ? (config[key] as readonly string[]).map((id) => rename(kind, id))
        : rename(kind, config[key] as string);
      result[type] = { ...config, [key]: name };
    }
  }
  return result;
}

/** File name for a private key that was not exported with its certificate. */
export function keyFileOf(name: string): string {
  return `${name}-key.pem`;
}
