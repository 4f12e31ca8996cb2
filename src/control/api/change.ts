import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { isAudited, auditEvent, type AuditAction } from '../../events/audit.ts';
import { timestamp } from '../../events/timestamps.ts';
import type { Body, Reference, Resource } from '../resources/contract.ts';
import { edgeDocument, pointerInObject } from '../resources/edge_document.ts';
import { numberOfFinding } from '../resources/edge_codes.ts';
import { referencesIn } from '../resources/parse.ts';
import { present, refTo } from '../resources/present.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { withoutSecrets } from '../resources/secrets.ts';
import { resourceOfId } from '../resources/table.ts';
import { ClaimTaken, type StoredObject, type Transaction } from '../store/port.ts';
import type { ApiRequest, Wiring } from './contract.ts';
import type { Touched } from './edge_objects.ts';
import { fileSettings } from './file_settings.ts';
import { refuseMissingPorts } from './ports.ts';

/** The changes of one request, in one transaction with their audit records. */
export interface Change {
  readonly transaction: Transaction;
  readonly put: (resource: Resource, object: StoredObject, action: 'created' | 'updated') => Promise<void>;
  readonly remove: (resource: Resource, object: StoredObject) => Promise<void>;
  /** Recompiles the edge for a change that is not an object. */
  readonly touch: () => void;
}

/**
 * Runs a change: store, audit record, compile, swap, ports, commit. If a step fails, nothing has changed, and
 * the error has the place in the request. `beforeCommit` may abort by throwing.
 */
export async function change<Answer>(
  wiring: Wiring,
  asking: ApiRequest,
  work: (change: Change) => Promise<Answer>,
  beforeCommit: () => void = () => {},
): Promise<Answer> {
  const { store, dataPlane, deliveries, edgeObjects } = wiring;
  let swapped = false;
  let compiled = false;
  try {
    const answer = await store.write(async (transaction) => {
      const touched: Touched[] = [];
      const answered = await work(changing(wiring, asking, transaction, touched));
      const missing = touched.length > 0 ? await dataPlane.settled() : [];
      if (touched.length > 0) {
        compiled = true;
        await compile(wiring, transaction, touched);
        swapped = true;
      }
      beforeCommit();
      const written = touched.filter(({ isGone }) => !isGone).map(({ object }) => object.body);
      if (swapped) refuseMissingPorts(missing, await dataPlane.settled(), written);
      return answered;
    });
    deliveries.changed();
    return answer;
  } catch (error) {
    if (compiled) edgeObjects.forget();
    if (swapped) {
      dataPlane.revert();
      await dataPlane.settled();
    }
    throw error;
  }
}

const NO_OBJECT = { id: '', kind: '', parent: null, body: {} };

function changing(wiring: Wiring, asking: ApiRequest, transaction: Transaction, touched: Touched[]): Change {
  const record = async (resource: Resource, object: StoredObject, action: AuditAction): Promise<void> => {
    if (resource.drivesEdge === true) touched.push({ object, isGone: action === 'deleted' });
    await recordChange(wiring, asking, transaction, { resource, object, action });
  };
  return {
    transaction,
    touch: () => void touched.push({ object: NO_OBJECT, isGone: true }),
    put: async (resource, object, action) => {
      await checkReferences(referencesIn(resource, object.body), transaction);
      try {
        await (action === 'created' ? transaction.insert(object) : transaction.replace(object));
      } catch (error) {
        if (!(error instanceof ClaimTaken)) throw error;
        throw takenBy(resource, object, error);
      }
      await record(resource, object, action);
    },
    remove: async (resource, object) => {
      await refuseIfUsed(resource, object, transaction);
      await recordParts(object, transaction, (part, of) => record(of, part, 'deleted'));
      await transaction.remove(object.id);
      await record(resource, object, 'deleted');
    },
  };
}

function takenBy(resource: Resource, { body }: StoredObject, { claim }: ClaimTaken): ApiProblem {
  const number = resource.claims?.(body).find((each) => each.value === claim.value)?.number;
  // Claims within a parent object are prefixed with its id.
  const value = claim.value.replace(/^[a-z]+_[0-9a-z]{27} /, '');
  const pointer = placeOf(body, value);
  return new ApiProblem(409, number ?? COMMON.badValue, `The ${claim.space} '${value}' is taken.`, {
    [claim.space]: value,
    ...(pointer !== null && { pointer }),
  });
}

/** The pointer of a value, or of a list that contains it, in a body. */
function placeOf(body: Body, value: string): string | null {
  const isIt = (each: unknown): boolean => typeof each === 'string' && each.toLowerCase() === value;
  for (const [name, each] of Object.entries(body)) {
    if (each === value) return pointerTo('', name);
    const index = Array.isArray(each) ? each.findIndex(isIt) : -1;
    if (index >= 0) return pointerTo(pointerTo('', name), index);
  }
  return null;
}

/** Checks that every referenced id belongs to an object of the right kind. */
async function checkReferences(uses: readonly Reference[], transaction: Transaction): Promise<void> {
  for (const { id, kinds, pointer, missing, wrong } of uses) {
    const resource = resourceOfId(id);
    if (resource === undefined || !kinds.includes(resource.kind)) {
      throw new ApiProblem(
        400,
        wrong,
        `'${id}' is not the id of ${kinds.join(' or ').replaceAll('_', ' ')}.`,
        {
          pointer,
        },
      );
    }
    if ((await transaction.get(id)) === null) {
      throw new ApiProblem(400, missing, `The ${resource.title} '${id}' does not exist.`, { pointer });
    }
  }
}

async function refuseIfUsed(
  resource: Resource,
  object: StoredObject,
  transaction: Transaction,
): Promise<void> {
  const parts = new Set((await partsOf(object, transaction)).map(({ id }) => id));
  const users = (await transaction.referrers(object.id)).filter((id) => !parts.has(id));
  if (users.length > 0) {
    const message = `The ${resource.title} ${object.id} is used by ${users[0]!}${users.length > 1 ? ` and ${users.length - 1} more` : ''}.`;
    throw new ApiProblem(400, resource.codes.inUse, message, { used_by: users.slice(0, 10).join(' ') });
  }
  const kept = await resource.keep?.(object.id, object.body, transaction);
  if (kept !== undefined && kept !== null) throw new ApiProblem(400, kept.number, kept.message);
}

/** Kinds of parts by the kind of object that they are removed with. */
const PARTS: Readonly<Record<string, string>> = {
  ip_policy: 'ip_policy_rule',
  https_edge: 'https_edge_route',
};

async function partsOf(
  { id, kind }: StoredObject,
  transaction: Transaction,
): Promise<readonly StoredObject[]> {
  const part = PARTS[kind];
  return part === undefined ? [] : transaction.list(part, { parent: id, limit: Number.MAX_SAFE_INTEGER });
}

async function recordParts(
  object: StoredObject,
  transaction: Transaction,
  record: (part: StoredObject, resource: Resource) => Promise<void>,
): Promise<void> {
  for (const part of await partsOf(object, transaction)) await record(part, resourceOfId(part.id)!);
}

interface Recorded {
  readonly resource: Resource;
  readonly object: StoredObject;
  readonly action: AuditAction;
}

async function recordChange(
  wiring: Wiring,
  { principal, base }: ApiRequest,
  transaction: Transaction,
  { resource, object, action }: Recorded,
): Promise<void> {
  const { ports, accountId, newId, nowMs, deliveries } = wiring;
  const { service, samlCertificate } = ports;
  const showing = { base, service, samlCertificate, statusOf: deliveries.statusOf };
  const hidden = new Set(resource.secretKeys);
  const told = { ...object, body: withoutSecrets(resource, object.body) };
  const shown = Object.entries(present(resource, told, showing)).filter(([key]) => !hidden.has(key));
  const event = auditEvent({
    eventId: newId('ev'),
    kind: resource.kind,
    action,
    object: Object.fromEntries(shown),
    accountId,
    principal: {
      id: principal.id,
      subject: principal.subject,
      source: 'API',
      credential: refTo(principal.keyId, base),
    },
    timestamp: wholeSeconds(nowMs()),
  });
  const { event_id: eventId, event_type: eventType } = event;
  const record = { eventId, eventType, objectId: object.id, event: JSON.stringify(event) };
  const destinations = isAudited(resource.kind) ? await subscribersOf(eventType, object, transaction) : [];
  await transaction.record(record, destinations);
}

/**
 * Destinations subscribed to an event type. A subscription receives the event of its own deletion only
 * through others.
 */
async function subscribersOf(
  type: string,
  object: StoredObject,
  transaction: Transaction,
): Promise<string[]> {
  const found = new Set<string>();
  for (const { body } of await transaction.all(['event_subscription'])) {
    const sources = body['sources'] as readonly { readonly type: string }[];
    if (!sources.some((source) => source.type === type)) continue;
    for (const id of body['destination_ids'] as readonly string[]) found.add(id);
  }
  const wanted: string[] = [];
  for (const id of found) {
    const target = id === object.id ? object : await transaction.get(id);
    const { file, debug } = (target?.body['target'] ?? {}) as Body;
    // Deliveries are not queued for targets without a sender; the destination's status says so.
    if (file !== undefined || debug !== undefined) wanted.push(id);
  }
  return wanted;
}

async function compile(wiring: Wiring, transaction: Transaction, touched: readonly Touched[]): Promise<void> {
  const objects = await wiring.edgeObjects.with(transaction, touched);
  const { object } = touched.at(-1)!;
  const document = edgeDocument(objects, wiring.ports.service, await fileSettings(transaction));
  const [finding, ...others] = wiring.dataPlane.swap(document).filter(({ severity }) => severity === 'error');
  if (finding === undefined) return;
  const pointer = pointerInObject(finding.pointer, object, document) ?? finding.pointer;
  const more = others.length > 0 ? { problems: String(others.length + 1) } : {};
  const number = numberOfFinding(finding);
  throw new ApiProblem(400, number, `The configuration is invalid: ${finding.message}.`, {
    pointer,
    finding: finding.code,
    ...more,
  });
}

/** Milliseconds as RFC 3339, whole seconds. */
export function wholeSeconds(ms: number): string {
  return `${timestamp(ms).slice(0, 19)}Z`;
}
