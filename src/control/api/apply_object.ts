import { MODULE_FACTS } from '../../filters/table.ts';
import type { Body } from '../resources/contract.ts';
import { MORE_KEY } from '../resources/edge_values.ts';
import { NAME_KEY } from '../resources/policies_document.ts';
import { parseWrite } from '../resources/parse.ts';
import { COMMON, refusedValue } from '../resources/problem.ts';
import { resourceOfKind } from '../resources/table.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { StoredObject } from '../store/port.ts';
import type { Change } from './change.ts';
import type { ApiRequest, Wiring } from './contract.ts';
import { EDGE_FAMILIES, isTunnelGroup, keyFileOf, nameOf } from './edge_file_names.ts';
import { completed, connected } from './objects.ts';

/** One step of applying an edge file. */
export interface Step {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: string;
  readonly name: string;
}

export interface Applying {
  readonly wiring: Wiring;
  readonly request: ApiRequest;
  readonly changing: Change;
  readonly steps: Step[];
  /** Existing objects by their key in edge files. */
  readonly wanted: ReadonlyMap<string, StoredObject>;
  /** Ids of objects that are in the file. */
  readonly kept: Set<string>;
}

/** Existing objects by their key in edge files: rules by range, routes by match, others by name. */
export function wantedObjects(existing: readonly StoredObject[]): Map<string, StoredObject> {
  return new Map(existing.map((object) => [keyOf(object, nameOf(object)), object]));
}

function keyOf({ kind, parent, body }: Pick<StoredObject, 'kind' | 'parent' | 'body'>, name: string): string {
  switch (kind) {
    case 'ip_policy_rule':
      return `${kind} ${parent!} ${String(body['cidr'])}`;
    case 'https_edge_route':
      return `${kind} ${parent!} ${String(body['match_type'])} ${String(body['match'])}`;
    default:
      return `${kind} ${name}`;
  }
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
export async function put(
  { wiring, request: asking, changing, steps, wanted, kept }: Applying,
  kind: string,
  name: string,
  given: Body,
  parent: string | null = null,
): Promise<string> {
  const resource = resourceOfKind(kind);
  const { values: said, more } = splitMembers(kind, name, given);
  const known = kind === 'tls_certificate' ? wanted.get(`${kind} ${name}`) : undefined;
  const values = parseWrite(resource, 'create', withKey(said, name, known), {});
  const { object } = await completed(wiring, asking, resource, changing.transaction, {
    id: wiring.newId(resource.prefix),
    parent,
    given: values,
    before: null,
  });
  const found = wanted.get(keyOf(object, name));
  const before = found === undefined || kept.has(found.id) ? undefined : found;
  const id = before?.id ?? object.id;
  kept.add(id);
  const spoken =
    before === undefined ? object.body : { ...object.body, ...withTunnelGroups(before.body, object.body) };
  const body = {
    ...spoken,
    ...(parent === null && name !== id && { [NAME_KEY]: name }),
    ...(Object.keys(more).length > 0 && { [MORE_KEY]: more }),
    ...withTimes(before?.body, spoken),
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

/** A certificate without a key in the file keeps its stored key. */
function withKey(given: Body, name: string, known: StoredObject | undefined): Body {
  if (given['certificate_pem'] === undefined || given['private_key_pem'] !== undefined) return given;
  if (known?.body['certificate_pem'] !== given['certificate_pem']) {
    const message = `The private key of the certificate '${name}' is in neither the file nor the store.`;
    throw refusedValue(COMMON.badValue, `${pointerTo('/tls_certificates', name)}/private_key_pem`, message);
  }
  return { ...given, private_key_pem: known.body['private_key_pem'] };
}

/** Keeps references to tunnel groups, which files cannot express. */
function withTunnelGroups(before: Body, after: Body): Body {
  const own = before['backend'] as { readonly backend_id: string } | undefined;
  if (own !== undefined && after['backend'] === undefined && isTunnelGroup(own.backend_id))
    return { backend: own };
  const [former, latter] = [before['backends'], after['backends']];
  if (Array.isArray(former)) {
    const spoken = (former as string[]).filter((id) => !isTunnelGroup(id));
    return canonical(spoken) === canonical(latter) ? { backends: former } : {};
  }
  if (typeof former !== 'object' || former === null) return {};
  const silent = Object.entries(former).filter(([id]) => isTunnelGroup(id));
  return { backends: { ...Object.fromEntries(silent), ...(latter as Body) } };
}

/** Releases claimed hostports before other edges claim them. */
export async function releaseClaims(
  { changing: { transaction } }: Applying,
  existing: readonly StoredObject[],
  families: Readonly<Record<string, Readonly<Record<string, Body>> | undefined>>,
): Promise<void> {
  for (const [family, kind] of EDGE_FAMILIES) {
    for (const object of existing) {
      if (object.kind !== kind) continue;
      const next = families[family]?.[nameOf(object)]?.['hostports'];
      if (canonical(next) === canonical(object.body['hostports'])) continue;
      const whole = await transaction.get(object.id);
      if (whole !== null) await transaction.replace({ ...whole, claims: [] });
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
