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
import { EDGE_FAMILIES, isUnspoken, keyFileOf, nameOf } from './edge_file_words.ts';
import { completed, connected } from './objects.ts';

/** One step that brings a store to an edge file. */
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
  /** Objects that are there, by what a file knows them by. */
  readonly wanted: ReadonlyMap<string, StoredObject>;
  /** Ids of objects that the file has. */
  readonly kept: Set<string>;
}

/** Finds objects as a file knows them: a rule by its range, a route by what it matches, others by their name. */
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

/** Members of a file that requests do not have, by the kind of object. */
const MORE_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  static_backend: ['proxy_protocol'],
  tls_certificate: ['certificate_file', 'private_key_file'],
  certificate_authority: ['ca_file'],
};

/** Takes apart what the file says: what a request could say, and what only a file can. */
function takenApart(kind: string, name: string, given: Body): { readonly values: Body; readonly more: Body } {
  const members = MORE_MEMBERS[kind] ?? [];
  const values = Object.fromEntries(Object.entries(given).filter(([key]) => !members.includes(key)));
  const more = Object.fromEntries(
    members.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])),
  );
  // `export` has made this name up.
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

/** Makes an object, or changes the one that the file means; gives its id. */
export async function put(
  { wiring, request: asking, changing, steps, wanted, kept }: Applying,
  kind: string,
  name: string,
  given: Body,
  parent: string | null = null,
): Promise<string> {
  const resource = resourceOfKind(kind);
  const { values: said, more } = takenApart(kind, name, given);
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
    before === undefined ? object.body : { ...object.body, ...unspoken(before.body, object.body) };
  const body = {
    ...spoken,
    ...(parent === null && name !== id && { [NAME_KEY]: name }),
    ...(Object.keys(more).length > 0 && { [MORE_KEY]: more }),
    ...timesOf(before?.body, spoken),
  };
  if (before !== undefined && canonical(noted(before.body)) === canonical(noted(body))) return id;
  const action = before === undefined ? 'create' : 'update';
  steps.push({ action, kind, name });
  // What an object names and claims comes from its body, which may have kept a part of what was there.
  await changing.put(resource, connected(resource, id, parent, body), `${action}d`);
  return id;
}

/** An empty description says as much as none. */
function noted(body: Body): Body {
  return {
    ...body,
    description: body['description'] === '' ? undefined : body['description'],
    metadata: body['metadata'] === '' ? undefined : body['metadata'],
  };
}

/** Times stay, but for the one of a certificate that is another now. */
function timesOf(before: Body | undefined, body: Body): Body {
  if (before === undefined) return {};
  const isSame = before['certificate_pem'] === body['certificate_pem'];
  return {
    created_at: before['created_at'],
    ...(isSame && before['issued_at'] !== undefined && { issued_at: before['issued_at'] }),
  };
}

/** A certificate without its key keeps the one that is there for it. */
function withKey(given: Body, name: string, known: StoredObject | undefined): Body {
  if (given['certificate_pem'] === undefined || given['private_key_pem'] !== undefined) return given;
  if (known?.body['certificate_pem'] !== given['certificate_pem']) {
    const message = `The private key of the certificate '${name}' is neither in the file nor in the store.`;
    throw refusedValue(COMMON.badValue, `${pointerTo('/tls_certificates', name)}/private_key_pem`, message);
  }
  return { ...given, private_key_pem: known.body['private_key_pem'] };
}

/** What leads to tunnel groups, which no file has words for, stays. */
function unspoken(before: Body, after: Body): Body {
  const own = before['backend'] as { readonly backend_id: string } | undefined;
  if (own !== undefined && after['backend'] === undefined && isUnspoken(own.backend_id))
    return { backend: own };
  const [former, latter] = [before['backends'], after['backends']];
  if (Array.isArray(former)) {
    const spoken = (former as string[]).filter((id) => !isUnspoken(id));
    return canonical(spoken) === canonical(latter) ? { backends: former } : {};
  }
  if (typeof former !== 'object' || former === null) return {};
  const silent = Object.entries(former).filter(([id]) => isUnspoken(id));
  return { backends: { ...Object.fromEntries(silent), ...(latter as Body) } };
}

/** Hostports may move from edge to edge: those that an edge gives up are free before another takes them. */
export async function freeClaims(
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

/** JSON with its keys in order. */
export function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}
