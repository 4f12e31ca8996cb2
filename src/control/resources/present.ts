import type { Body, Reading, Ref, Resource, ResourceObject } from './contract.ts';
import { resourceOfId } from './table.ts';

/** Context of every response: the address that the client used, and the delivery status. */
export interface Showing {
  /** Scheme and host of the request: `http://127.0.0.1:4040`. */
  readonly base: string;
  readonly service: string;
  readonly statusOf: (id: string) => unknown;
  readonly samlCertificate: (route: string) => string;
  /** Ids of the online tunnels that carry all labels. */
  readonly tunnelsWith: (labels: Readonly<Record<string, string>>) => readonly string[];
}

type Shown = Omit<ResourceObject, 'kind'>;

/** The path of an object. */
export function pathOf(resource: Resource, { id, parent }: Pick<Shown, 'id' | 'parent'>): string {
  return `${collectionPath(resource, parent)}/${id}`;
}

/** The path of the list that contains an object. */
function collectionPath(resource: Resource, parent: string | null): string {
  const { path, parent: owner } = resource;
  return owner === undefined ? path : path.replace(`{${owner.parameter}}`, parent ?? '');
}

/** Path of the users of the account. */
export const USERS_PATH = '/users';

/** Paths of things that are online, by the prefix of their ids. */
const ONLINE_PATHS: Readonly<Record<string, string>> = {
  ts: '/tunnel_sessions',
  tn: '/tunnels',
  ep: '/endpoints',
};

/** A Ref to an object without a parent, or to something that is online. */
export function refTo(id: string, base: string): Ref {
  const path = resourceOfId(id)?.path ?? ONLINE_PATHS[id.slice(0, id.indexOf('_'))] ?? USERS_PATH;
  return { id, uri: `${base}${path}/${id}` };
}

/** An object in the form of responses, with keys in alphabetical order. */
export function present(
  resource: Resource,
  object: Shown,
  showing: Showing,
  more: Body = {},
): Record<string, unknown> {
  const uri = showing.base + pathOf(resource, object);
  const reading: Reading = {
    id: object.id,
    body: object.body,
    service: showing.service,
    refOf: (id) => (id === object.id ? { id, uri } : refTo(id, showing.base)),
    statusOf: showing.statusOf,
    samlCertificate: showing.samlCertificate,
    tunnelsWith: (labels) => showing.tunnelsWith(labels).map((tunnel) => refTo(tunnel, showing.base)),
  };
  const shown: Record<string, unknown> = { id: object.id, uri };
  for (const [name, { read }] of Object.entries(resource.fields)) {
    const value = read?.show(object.body[name], reading);
    if (value !== undefined) shown[read!.name ?? name] = value;
  }
  return sorted({ ...shown, ...more });
}

/** One module of an object in the form of responses; null if it is not configured. */
export function presentModule(resource: Resource, object: Shown, name: string, showing: Showing): unknown {
  const { read } = resource.fields[name]!;
  if (object.body[name] === undefined) return null;
  return present({ ...resource, fields: { [name]: { read: read! } } }, object, showing)[name];
}

/** Sorts keys alphabetically on every level. */
export function sorted(body: Body): Record<string, unknown> {
  const keys = Object.keys(body).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sortedValue(body[key])]));
}

function sortedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedValue);
  return typeof value === 'object' && value !== null ? sorted(value as Body) : value;
}
