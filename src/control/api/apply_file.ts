import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Body, ResourceObject } from '../resources/contract.ts';
import { type FileSettings, settingsIn } from '../resources/edge_document.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { resourceOfKind } from '../resources/table.ts';
import {
  type Applying,
  type Step,
  canonical,
  releaseClaims,
  put,
  refuseMissing,
  titleOfPart,
  wantedObjects,
} from './apply_object.ts';
import { change } from './change.ts';
import type { ApiRequest, Wiring } from './contract.ts';
import { EDGE_FAMILIES, FILE_KINDS, kindOfBackend, memberOf, nameOf, renamed } from './edge_file_names.ts';
import { isLeftOut } from './edge_file.ts';
import { fileSettings, keepFileSettings } from './file_settings.ts';
import { checkShape } from './file_shape.ts';

export type { Step } from './apply_object.ts';

/** Rolls back the transaction of a dry run. */
class PlanOnly extends Error {}

/**
 * Applies an edge file to a store in one transaction: objects in the file are created or updated, other
 * objects are deleted, and objects that a file cannot express are kept. With `isDry` everything is checked
 * and nothing is stored.
 */
export async function applyFile(
  wiring: Wiring,
  asking: ApiRequest,
  document: Body,
  isDry: boolean,
): Promise<readonly Step[]> {
  checkShape(document);
  const steps: Step[] = [];
  try {
    await change(
      wiring,
      asking,
      async (changing) => {
        const all = await changing.transaction.all(FILE_KINDS);
        const staying = new Set(all.filter(isLeftOut).map(({ id }) => id));
        const existing = all.filter(({ id, parent }) => !staying.has(id) && !staying.has(parent ?? ''));
        const wanted = wantedObjects(existing);
        const applying = { wiring, asking, changing, steps, wanted, kept: new Set<string>(), missing: [] };
        await applyObjects(applying, document, existing);
        refuseMissing(applying);
      },
      () => {
        // The plan is complete and checked at this point.
        if (isDry) throw new PlanOnly();
      },
    );
  } catch (error) {
    if (!(error instanceof PlanOnly)) throw error;
  }
  return steps;
}

type Named = Readonly<Record<string, Body>>;

async function applyObjects(
  applying: Applying,
  document: Body,
  existing: readonly ResourceObject[],
): Promise<void> {
  const part = (key: string): Named => (document[key] ?? {}) as Named;
  const families = (document['edges'] ?? {}) as Readonly<Record<string, Named | undefined>>;
  /** Ids by kind and name. */
  const ids = new Map<string, string>();
  await applySettings(applying, document);
  await releaseClaims(applying, existing, families);
  const putIn = (list: string, kind: string, name: string, given: Body): Promise<string> =>
    put(applying, { kind, name, pointer: pointerTo(`/${list}`, name), given });
  for (const [name, authority] of Object.entries(part('certificate_authorities'))) {
    const id = await putIn('certificate_authorities', 'certificate_authority', name, authority);
    ids.set(`certificate_authority ${name}`, id);
  }
  for (const [name, certificate] of Object.entries(part('tls_certificates')))
    await putIn('tls_certificates', 'tls_certificate', name, certificate);
  for (const [name, { rules = [], ...notes }] of Object.entries(part('ip_policies'))) {
    const parent = await putIn('ip_policies', 'ip_policy', name, notes);
    ids.set(`ip_policy ${name}`, parent);
    for (const [index, rule] of (rules as readonly Body[]).entries()) {
      const title = titleOfPart('ip_policy_rule', name, rule);
      const pointer = `${pointerTo('/ip_policies', name)}/rules/${index}`;
      const given = { ...rule, ip_policy_id: parent };
      await put(applying, { kind: 'ip_policy_rule', name: title, pointer, given, parent });
    }
  }
  const backends = part('backends');
  for (const name of Object.keys(backends)) await putBackend(applying, backends, name, ids, new Set());
  const named = (thing: Body): Body => renamed(thing, (kind, name) => ids.get(`${kind} ${name}`) ?? name);
  for (const [family, kind] of EDGE_FAMILIES) {
    for (const [name, { routes = [], ...edge }] of Object.entries(families[family] ?? {})) {
      const pointer = pointerTo(`/edges/${family}`, name);
      const parent = await put(applying, { kind, name, pointer, given: named(edge) });
      await putRoutes(applying, { name, pointer, parent }, (routes as readonly Body[]).map(named));
    }
  }
  await removeOthers(applying, existing);
}

interface RouteOwner {
  readonly name: string;
  readonly pointer: string;
  readonly parent: string;
}

async function putRoutes(
  applying: Applying,
  { name, pointer, parent }: RouteOwner,
  routes: readonly Body[],
): Promise<void> {
  for (const [index, given] of routes.entries()) {
    const title = titleOfPart('https_edge_route', name, given);
    const place = `${pointer}/routes/${index}`;
    await put(applying, { kind: 'https_edge_route', name: title, pointer: place, given, parent });
  }
}

/** Stores the settings of the file besides its objects. */
async function applySettings({ changing, steps }: Applying, document: Body): Promise<void> {
  const { address_databases: databases = [], ...others } = settingsIn(document);
  const next: FileSettings = { ...others, ...(databases.length > 0 && { address_databases: databases }) };
  const before = await fileSettings(changing.transaction);
  for (const name of ['facts', 'address_databases', 'underscore_headers'] as const) {
    if (canonical(before[name]) === canonical(next[name])) continue;
    const action = before[name] === undefined ? 'create' : next[name] === undefined ? 'delete' : 'update';
    steps.push({ action, kind: 'setting', name });
    changing.touch();
  }
  await keepFileSettings(changing.transaction, next);
}

/** Creates the children of a backend first. */
async function putBackend(
  applying: Applying,
  backends: Named,
  name: string,
  ids: Map<string, string>,
  open: Set<string>,
): Promise<string> {
  const known = ids.get(`backend ${name}`);
  if (known !== undefined) return known;
  const backend = backends[name];
  const kind = backend === undefined ? undefined : kindOfBackend(backend);
  if (backend === undefined || kind === undefined || open.has(name)) {
    throw new ApiProblem(400, COMMON.badValue, `The backend '${name}' does not exist, or refers to itself.`);
  }
  open.add(name);
  const { [memberOf(kind)!]: member, ...notes } = backend;
  const child = (each: string) => putBackend(applying, backends, each, ids, open);
  let values: Body = member as Body;
  if (kind === 'weighted_backend') {
    const children: Record<string, unknown> = {};
    for (const [each, weight] of Object.entries(member as Body)) children[await child(each)] = weight;
    values = { backends: children };
  } else if (kind === 'failover_backend') {
    const children: string[] = [];
    for (const each of member as readonly string[]) children.push(await child(each));
    values = { backends: children };
  }
  const pointer = pointerTo('/backends', name);
  const id = await put(applying, { kind, name, pointer, given: { ...notes, ...values } });
  ids.set(`backend ${name}`, id);
  return id;
}

/** Objects that refer to others are removed first, because referenced objects cannot be removed. */
const REMOVAL_ORDER = [
  'https_edge_route',
  'https_edge',
  'tls_edge',
  'tcp_edge',
  // These may refer to each other, so children are removed first; see `removeOthers`.
  'weighted_backend',
  'failover_backend',
];

function rank({ kind }: ResourceObject): number {
  const place = REMOVAL_ORDER.indexOf(kind);
  return place < 0 ? REMOVAL_ORDER.length : place;
}

/** What a step calls an object, by the names of all objects. */
function titleOf({ id, kind, parent, body }: ResourceObject, names: ReadonlyMap<string, string>): string {
  if (parent === null) return names.get(id)!;
  return titleOfPart(kind, names.get(parent) ?? parent, body);
}

async function removeOthers(
  { changing, steps, kept }: Applying,
  existing: readonly ResourceObject[],
): Promise<void> {
  let others = existing.filter(({ id }) => !kept.has(id)).toSorted((one, other) => rank(one) - rank(other));
  const names = new Map(existing.map((object) => [object.id, nameOf(object)]));
  const going = new Set(others.map(({ id }) => id));
  while (others.length > 0) {
    const waiting: ResourceObject[] = [];
    for (const object of others) {
      const current = await changing.transaction.get(object.id);
      // Parts were removed together with their parent.
      if (current === null) continue;
      const users = await changing.transaction.referrers(object.id);
      const isWaiting =
        users.some((id) => going.has(id) && id !== object.id) && memberOf(object.kind) !== undefined;
      if (isWaiting) {
        waiting.push(object);
        continue;
      }
      // Reserved domains, which a file does not have, keep their certificates.
      if (object.kind === 'tls_certificate' && users.some((id) => !going.has(id))) continue;
      steps.push({ action: 'delete', kind: object.kind, name: titleOf(object, names) });
      await changing.remove(resourceOfKind(object.kind), current);
      going.delete(object.id);
    }
    if (waiting.length === others.length) break;
    others = waiting;
  }
}
