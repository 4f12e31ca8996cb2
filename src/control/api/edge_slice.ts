import type { ResourceObject } from '../resources/contract.ts';
import {
  type EdgeDocument,
  type FileSettings,
  EDGE_KINDS,
  edgeDocument,
} from '../resources/edge_document.ts';
import { referencesIn } from '../resources/parse.ts';
import { NAME_KEY } from '../resources/policies_document.ts';
import { resourceOfKind } from '../resources/table.ts';
import type { EdgeObjects, Touched } from './edge_objects.ts';

/** What a write changes in the configuration. */
export interface EdgeChange {
  /** The parts that the write concerns: those that it changed, and those that they refer to. */
  readonly document: EdgeDocument;
  /** The names of the parts that it changed or removed; null if the document is the whole configuration. */
  readonly changed: ReadonlySet<string> | null;
  /** Whether vaults or their secrets have changed; then the document has all of them. */
  readonly hasSecrets: boolean;
}

/** What a document needs besides objects. */
interface Surroundings {
  readonly service: string;
  readonly settings: FileSettings;
}

/** The whole configuration. */
export function wholeDocument(objects: EdgeObjects, surroundings: Surroundings): EdgeDocument {
  const all = EDGE_KINDS.flatMap((kind) => [...objects.ofKind(kind)].sort(byId));
  return edgeDocument({ objects: all, policies: objects.policies(), ...surroundings });
}

/** With more changes than this, the whole configuration is checked. */
const MANY = 500;

/**
 * Takes the changes of a write in, and gives what they change in the configuration, as a document that is checked like
 * a file. What the store guarantees over all objects (that references exist, that hostports are unique) is not looked
 * for again. `takeBack` takes the changes back.
 */
export function edgeChange(
  objects: EdgeObjects,
  touched: readonly Touched[],
  surroundings: Surroundings,
): { readonly change: EdgeChange; readonly takeBack: () => void } {
  const isWhole = touched.length > MANY || touched.some((each) => concernsAll(each, objects));
  const takeBack = objects.take(touched);
  if (isWhole) {
    const document = wholeDocument(objects, surroundings);
    return { change: { document, changed: null, hasSecrets: true }, takeBack };
  }
  const concerned = new Map<string, ResourceObject>();
  for (const { object } of touched) concern(partOf(object, objects), objects, concerned);
  const seen = new Set<string>();
  for (const { object } of touched)
    if (object.kind.endsWith('_backend')) concernUsers(object, objects, concerned, seen);
  for (const kind of IMPOSED) for (const each of objects.ofKind(kind)) concerned.set(each.id, each);
  const hasSecrets = touched.some(({ object: { kind } }) => SECRETS.includes(kind));
  if (hasSecrets)
    for (const kind of SECRETS) for (const each of objects.ofKind(kind)) concerned.set(each.id, each);
  const sorted = [...concerned.values()].sort(
    (one, other) => rankOf(one) - rankOf(other) || byId(one, other),
  );
  const document = edgeDocument({ objects: sorted, policies: objects.policies(), ...surroundings });
  const changed = new Set(touched.map(({ object }) => nameOf(object)));
  return { change: { document, changed, hasSecrets }, takeBack };
}

const SECRETS = ['vault', 'secret'];
/** Kinds whose objects every part may depend on. */
const IMPOSED = ['ip_policy', 'ip_restriction'];
const RANKS = new Map(EDGE_KINDS.map((kind, index) => [kind, index]));

const rankOf = ({ kind }: ResourceObject): number => RANKS.get(kind)!;
const byId = (one: ResourceObject, other: ResourceObject): number => (one.id < other.id ? -1 : 1);
/** The name of the part of the configuration that an object is, or belongs to. */
const nameOf = ({ id, kind, parent }: ResourceObject): string => (kind === 'https_edge_route' ? parent! : id);

/**
 * Whether a change concerns parts that neither it nor its references name: settings of a file, restrictions, names of IP
 * policies in texts, the order of certificates. `objects` are those before the change.
 */
function concernsAll({ object, isGone }: Touched, objects: EdgeObjects): boolean {
  const { id, kind, body } = object;
  const before = objects.get(id)?.body;
  if (kind === 'ip_policy') return isGone || (before !== undefined && before[NAME_KEY] !== body[NAME_KEY]);
  if (kind === 'domain') return [before, body].some((each) => each?.['certificate_id'] !== undefined);
  if (kind === 'ip_restriction') return [before, body].some((each) => each?.['type'] === 'endpoints');
  return kind === '';
}

/** The object that an object is, or belongs to; undefined if it is gone. */
function partOf(object: ResourceObject, objects: EdgeObjects): ResourceObject | undefined {
  return objects.get(nameOf(object));
}

/** Adds an object, its routes, and what they refer to. */
function concern(
  object: ResourceObject | undefined,
  objects: EdgeObjects,
  concerned: Map<string, ResourceObject>,
): void {
  if (object === undefined || concerned.has(object.id)) return;
  concerned.set(object.id, object);
  for (const { id } of referencesIn(resourceOfKind(object.kind), object.body))
    concern(objects.get(id), objects, concerned);
  if (object.kind === 'https_edge')
    for (const route of objects.routesOf(object.id)) concern(route, objects, concerned);
}

/** Adds what depends on the content of a backend, also through other backends. */
function concernUsers(
  { id }: ResourceObject,
  objects: EdgeObjects,
  concerned: Map<string, ResourceObject>,
  seen: Set<string>,
): void {
  if (seen.has(id)) return;
  seen.add(id);
  for (const user of objects.usersOf(id)) {
    concern(user, objects, concerned);
    concernUsers(user, objects, concerned, seen);
  }
}
