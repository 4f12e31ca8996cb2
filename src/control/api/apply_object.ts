import { NOT_EXPORTED } from '../../edge/document/value_places.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import type { Body, ResourceObject } from '../resources/contract.ts';
import { MORE_KEY } from '../resources/edge_values.ts';
import { NAME_KEY } from '../resources/policies_document.ts';
import { parseWrite } from '../resources/parse.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { withSecrets } from '../resources/secrets.ts';
import { resourceOfKind } from '../resources/table.ts';
import type { Change } from './change.ts';
import type { ApiRequest, Wiring } from './contract.ts';
import { EDGE_FAMILIES, keyFileOf, nameOf } from './edge_file_names.ts';
import { completed, connected } from './objects.ts';

/** One step of applying an edge file. */
export interface Step {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: string;
  readonly name: string;
}

export interface Applying {
  readonly wiring: Wiring;
  readonly asking: ApiRequest;
  readonly changing: Change;
  readonly steps: Step[];
  /** Existing objects by their key in edge files. */
  readonly wanted: ReadonlyMap<string, ResourceObject>;
  /** Ids of objects that are in the file. */
  readonly kept: Set<string>;
  /** Pointers to secrets of the file that are neither in it nor in the store. */
  readonly missing: string[];
}

/** An object of the file. */
export interface FileObject {
  readonly kind: string;
  readonly name: string;
  /** Where it is in the file. */
  readonly pointer: string;
  readonly given: Body;
  /** Id of the object that it is a part of. */
  readonly parent?: string;
}

/** Existing objects by their key in edge files: rules by range, routes by match, others by name. */
export function wantedObjects(existing: readonly ResourceObject[]): Map<string, ResourceObject> {
  return new Map(existing.map((object) => [keyOf(object, nameOf(object)), object]));
}

function keyOf(
  { kind, parent, body }: Pick<ResourceObject, 'kind' | 'parent' | 'body'>,
  name: string,
): string {
  switch (kind) {
    case 'ip_policy_rule':
      return `${kind} ${parent!} ${String(body['cidr'])}`;
    case 'https_edge_route':
      return `${kind} ${parent!} ${String(body['match_type'])} ${String(body['match'])}`;
    default:
      return `${kind} ${name}`;
  }
}

/** What a step calls a rule or a route, which have no names: `owner` is the name of the object that it is a part of. */
export function titleOfPart(kind: string, owner: string, body: Body): string {
  const parts = kind === 'ip_policy_rule' ? ['action', 'cidr'] : ['match_type', 'match'];
  return [owner, ...parts.map((part) => String(body[part]))].join(' ');
}

/** Members of a file that requests do not have, by kind. */
const MORE_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  static_backend: ['proxy_protocol'],
  tls_certificate: ['certificate_file', 'private_key_file'],
  certificate_authority: ['ca_file'],
};

/** Splits an object of the file into members of requests and members that only files have. */
function splitMembers(
  kind: string,
  name: string,
  given: Body,
): { readonly values: Body; readonly more: Body } {
  const members = MORE_MEMBERS[kind] ?? [];
  const values = Object.fromEntries(Object.entries(given).filter(([key]) => !members.includes(key)));
  const more = Object.fromEntries(
    members.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])),
  );
  // `export` generated this name.
  if (more['private_key_file'] === keyFileOf(name)) delete more['private_key_file'];
  for (const { type, fileOnly = [] } of MODULE_FACTS.values()) {
    const config = given[type] as Body | undefined;
    if (config === undefined || fileOnly.length === 0) continue;
    values[type] = Object.fromEntries(Object.entries(config).filter(([key]) => !fileOnly.includes(key)));
    // What is off needs no place.
    for (const key of fileOnly) if (config[key] === true) more[key] = true;
  }
  return { values, more };
}

/** Creates or updates the object; returns its id. */
export async function put(applying: Applying, file: FileObject): Promise<string> {
  const { wiring, asking, changing, steps, wanted, kept } = applying;
  const { kind, name, given, parent = null } = file;
  const resource = resourceOfKind(kind);
  const { values: said, more } = splitMembers(kind, name, given);
  const withKeys = kind === 'tls_certificate' ? withKey(said, applying, file) : said;
  if (withKeys === null) return '';
  const values = parseWrite(resource, 'create', withKeys, {});
  const made = { id: wiring.newId(resource.prefix), parent, given: values, before: null };
  const { object } = await completed({ wiring, asking, resource }, changing.transaction, made);
  const found = wanted.get(keyOf(object, name));
  const before = found === undefined || kept.has(found.id) ? undefined : found;
  const id = before?.id ?? object.id;
  kept.add(id);
  const body = {
    ...withStoredSecrets(object, before?.body, applying, file),
    ...(parent === null && name !== id && { [NAME_KEY]: name }),
    ...(Object.keys(more).length > 0 && { [MORE_KEY]: more }),
    ...withTimes(before?.body, object.body),
  };
  if (
    before !== undefined &&
    canonical(withoutEmptyDescription(before.body)) === canonical(withoutEmptyDescription(body))
  )
    return id;
  const action = before === undefined ? 'create' : 'update';
  steps.push({ action, kind, name });
  // References and claims depend on the stored body, which may contain existing values.
  await changing.put(resource, connected(resource, id, parent, body), `${action}d`);
  return id;
}

/** The values of an object, in which a placeholder is the stored secret of the same place. */
function withStoredSecrets(
  { kind, body }: ResourceObject,
  before: Body | undefined,
  { missing }: Applying,
  { pointer }: FileObject,
): Body {
  const resource = resourceOfKind(kind);
  const stored = new Map<string, unknown>();
  if (before !== undefined)
    withSecrets(resource, before, (value, place) => {
      stored.set(place, value);
      return value;
    });
  return withSecrets(resource, body, (value, place) => {
    if (value !== NOT_EXPORTED) return value;
    const known = stored.get(place);
    if (known === undefined || known === '') missing.push(pointer + place);
    return known ?? value;
  });
}

/** Refuses a file with secrets that are neither in it nor in the store; names the place of each. */
export function refuseMissing({ missing }: Applying): void {
  const [pointer] = missing;
  if (pointer === undefined) return;
  const places = missing.join(', ');
  const message = `The file lacks secrets that this store does not have: ${places}. Write them there, or use export --secrets --private-keys.`;
  throw new ApiProblem(400, COMMON.badValue, message, { pointer, pointers: missing.join(' ') });
}

/** Removes an empty description. */
function withoutEmptyDescription(body: Body): Body {
  return {
    ...body,
    description: body['description'] === '' ? undefined : body['description'],
    metadata: body['metadata'] === '' ? undefined : body['metadata'],
  };
}

/** Keeps timestamps, except that of a changed certificate. */
function withTimes(before: Body | undefined, body: Body): Body {
  if (before === undefined) return {};
  const isSame = before['certificate_pem'] === body['certificate_pem'];
  return {
    created_at: before['created_at'],
    ...(isSame && before['issued_at'] !== undefined && { issued_at: before['issued_at'] }),
  };
}

/** A certificate without a key in the file keeps its stored key; null if there is none. */
function withKey(given: Body, { wanted, missing }: Applying, { name, pointer }: FileObject): Body | null {
  if (given['certificate_pem'] === undefined || given['private_key_pem'] !== undefined) return given;
  const known = wanted.get(`tls_certificate ${name}`);
  if (known?.body['certificate_pem'] === given['certificate_pem'])
    return { ...given, private_key_pem: known?.body['private_key_pem'] };
  missing.push(`${pointer}/private_key_pem`);
  return null;
}

/** Releases claimed hostports before other edges claim them. */
export async function releaseClaims(
  { changing: { transaction } }: Applying,
  existing: readonly ResourceObject[],
  families: Readonly<Record<string, Readonly<Record<string, Body>> | undefined>>,
): Promise<void> {
  for (const [family, kind] of EDGE_FAMILIES) {
    for (const object of existing) {
      if (object.kind !== kind) continue;
      const next = families[family]?.[nameOf(object)]?.['hostports'];
      if (canonical(next) === canonical(object.body['hostports'])) continue;
      const whole = await transaction.get(object.id);
      if (whole === null) continue;
      const { id, parent, body } = whole;
      await transaction.replace({ ...connected(resourceOfKind(kind), id, parent, body), claims: [] });
    }
  }
}

/** JSON with sorted keys. */
export function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}
