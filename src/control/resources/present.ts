import { weakMemoize } from '../../caches/weak_memoize.ts';
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
  more: Body = NOTHING,
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
  const shown: Record<string, unknown> = {};
  for (const { as, show } of membersOf(resource)) {
    const value = as === 'id' ? object.id : as === 'uri' ? uri : show(object.body, reading);
    if (value !== undefined) shown[as] = value;
  }
  return sorted(more === NOTHING ? shown : { ...shown, ...more });
}

const NOTHING: Body = {};

/** What was written of an object, for one base. */
interface Written {
  readonly base: string;
  readonly json: string;
}

const written = new WeakMap<Shown, Written>();

/**
 * An object without parts in the form of responses, as JSON. It is written once for each object that was read, unless it
 * depends on more than the object, such as the status of a delivery.
 */
export function presentJson(resource: Resource, object: Shown, showing: Showing): string {
  const { base } = showing;
  const before = written.get(object);
  if (before?.base === base) return before.json;
  let isFixed = true;
  const noted =
    <Given, Answer>(ask: (given: Given) => Answer) =>
    (given: Given): Answer => {
      isFixed = false;
      return ask(given);
    };
  const noting: Showing = {
    base,
    service: showing.service,
    statusOf: noted(showing.statusOf),
    samlCertificate: noted(showing.samlCertificate),
    tunnelsWith: noted(showing.tunnelsWith),
  };
  const json = JSON.stringify(present(resource, object, noting));
  if (isFixed) written.set(object, { base, json });
  return json;
}

/** Whether the JSON of an object, which was written, depends on nothing else. */
export function isFixed(object: Shown): boolean {
  return written.has(object);
}

interface Member {
  /** Its name in responses. */
  readonly as: string;
  readonly show: (body: Body, reading: Reading) => unknown;
}

/** The members of an object of a resource in responses, in alphabetical order. */
const membersOf = weakMemoize(({ fields }: Resource): readonly Member[] => {
  const shown = Object.entries(fields).flatMap(([name, { read }]): Member[] =>
    read === undefined
      ? []
      : [{ as: read.name ?? name, show: (body, reading) => read.show(body[name], reading) }],
  );
  const own = ['id', 'uri'].map((as): Member => ({ as, show: () => undefined }));
  return [...own, ...shown].sort((one, other) => (one.as < other.as ? -1 : 1));
});

/** One module of an object in the form of responses; null if it is not configured. */
export function presentModule(resource: Resource, object: Shown, name: string, showing: Showing): unknown {
  const { read } = resource.fields[name]!;
  if (object.body[name] === undefined) return null;
  return present({ ...resource, fields: { [name]: { read: read! } } }, object, showing)[name];
}

/** Sorts keys alphabetically on every level. What is sorted is returned as it is. */
export function sorted(body: Body): Record<string, unknown> {
  let isSorted = true;
  let last = '';
  const members = Object.keys(body).map((key) => {
    const value = sortedValue(body[key]);
    if (key < last || value !== body[key]) isSorted = false;
    last = key;
    return [key, value] as const;
  });
  if (isSorted) return body;
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function sortedValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return sorted(value as Body);
  const elements = value.map(sortedValue);
  return elements.every((each, index) => each === value[index]) ? value : elements;
}
