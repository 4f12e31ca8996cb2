import { setImmediate } from 'node:timers/promises';
import { ENDPOINT_NUMBERS } from '../resources/endpoints.ts';
import { type Diagnostic, pointerTo } from '../../diagnostics/diagnostic.ts';
import type { AuditAction } from '../../events/audit.ts';
import type { Body, Resource, ResourceObject } from '../resources/contract.ts';
import { eventSubscriptions } from '../resources/events.ts';
import { pointerInObject } from '../resources/edge_document.ts';
import { numberOfFinding } from '../../edge/document/codes.ts';
import { referencesIn } from '../resources/parse.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { resourceOfId } from '../resources/table.ts';
import { ClaimTaken, type StoredObject, type Transaction } from '../store/port.ts';
import type { ApiRequest, Wiring } from './contract.ts';
import { recordChange } from './change_events.ts';
import { refuseConflicts } from './endpoint_conflicts.ts';
import type { Touched } from './edge_objects.ts';
import { type EdgeChange, edgeChange } from './edge_slice.ts';
import { fileSettings } from './file_settings.ts';
import { checkReferences, partsOf, refuseIfUsed } from './object_references.ts';
import { refuseMissingPorts } from './ports.ts';
import { refuseLockOut } from './restriction.ts';

/** The changes of one request, in one transaction with their audit records. */
export interface Change {
  readonly transaction: Transaction;
  readonly put: (resource: Resource, object: StoredObject, action: 'created' | 'updated') => Promise<void>;
  readonly remove: (resource: Resource, object: ResourceObject) => Promise<void>;
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
  const { store, dataPlane, deliveries } = wiring;
  const written: string[] = [];
  const removed: string[] = [];
  const woken = new Set<string>();
  try {
    const answer = await store.write(async (transaction) => {
      await asking.readmit?.(transaction);
      const touched: Touched[] = [];
      const answered = await work(
        changing(wiring, asking, transaction, { touched, written, removed, woken }),
      );
      await wiring.kept?.(transaction);
      if (touched.length === 0) {
        beforeCommit();
        return answered;
      }
      const missing = await dataPlane.settled();
      await compile(wiring, transaction, touched, () =>
        refuseLockOut(asking, [...written, ...removed], transaction, wiring.areAllowing),
      );
      beforeCommit();
      const bodies = touched.filter(({ isGone }) => !isGone).map(({ object }) => object.body);
      refuseMissingPorts(missing, await dataPlane.settled(), bodies);
      return answered;
    });
    if ([...written, ...removed].some((id) => OF_DELIVERIES.test(id))) await deliveries.changed();
    else if (woken.size > 0) deliveries.wake(woken);
    await wiring.committed?.({ written, removed });
    return answer;
  } catch (error) {
    // What was undone may have opened and closed ports.
    await dataPlane.settled();
    throw error;
  }
}

/** Ids of destinations and subscriptions. */
const OF_DELIVERIES = /^(?:ed|esb)_/;

/** Parts of an object that are removed in one turn of the event loop: a few milliseconds. */
const SLICE = 250;

const NO_OBJECT = { id: '', kind: '', parent: null, body: {} };

/** What a change has done so far. */
interface Progress {
  readonly touched: Touched[];
  /** Ids of objects that were created or updated. */
  readonly written: string[];
  /** Ids of objects that are gone. */
  readonly removed: string[];
  /** Ids of the destinations that have more pending events. */
  readonly woken: Set<string>;
}

function changing(
  wiring: Wiring,
  asking: ApiRequest,
  transaction: Transaction,
  { touched, written, removed, woken }: Progress,
): Change {
  const record = async (resource: Resource, object: ResourceObject, action: AuditAction): Promise<void> => {
    // A subscription receives the event of its own deletion only through others.
    if (resource === eventSubscriptions) wiring.subscribers.changed(transaction);
    if (resource.drivesEdge === true) touched.push({ object, isGone: action === 'deleted' });
    for (const id of await recordChange(wiring, asking, transaction, { resource, object, action }))
      woken.add(id);
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
      written.push(object.id);
      await record(resource, object, action);
    },
    remove: async (resource, object) => {
      await refuseIfUsed(resource, object, transaction);
      const parts = await partsOf(object, transaction);
      for (const [index, part] of parts.entries()) {
        await transaction.remove(part.id);
        await record(resourceOfId(part.id)!, part, 'deleted');
        if (index % SLICE === SLICE - 1) await setImmediate();
      }
      await transaction.remove(object.id);
      removed.push(object.id, ...parts.map(({ id }) => id));
      await record(resource, object, 'deleted');
    },
  };
}

function takenBy(resource: Resource, { body }: StoredObject, { claim }: ClaimTaken): ApiProblem {
  const made = resource.claims?.(body).find((each) => each.value === claim.value);
  // Claims within a parent object are prefixed with its id.
  const value = claim.value.replace(/^[a-z]+_[0-9a-z]{27} /, '');
  const pointer = made?.field === undefined ? placeOf(body, value) : pointerTo('', made.field);
  return new ApiProblem(409, made?.number ?? COMMON.badValue, `The ${claim.space} '${value}' is taken.`, {
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

/** Kinds whose objects need ports of this machine. */
const WITH_PORTS: ReadonlySet<string> = new Set(['tls_edge', 'tcp_edge', 'endpoint']);

/**
 * Activates a change: after the commit where that takes its time, because what is not durable must not be seen. A
 * change that may need ports is tried before the commit, so that it can be refused.
 */
function takeEffect(
  dataPlane: Wiring['dataPlane'],
  transaction: Transaction,
  touched: readonly Touched[],
  changed: EdgeChange,
): readonly Diagnostic[] {
  if (transaction.committed === undefined || touched.some(({ object }) => WITH_PORTS.has(object.kind))) {
    const { findings, revert } = dataPlane.swap(changed);
    transaction.undone(revert);
    return findings;
  }
  const { findings, activate, drop } = dataPlane.stage(changed);
  transaction.undone(drop);
  transaction.committed(activate);
  return findings;
}

/** Compiles and activates the changes of a write, which are undone if it is not committed. */
async function compile(
  wiring: Wiring,
  transaction: Transaction,
  touched: readonly Touched[],
  beforeSwap: () => Promise<void>,
): Promise<void> {
  const { edgeObjects, dataPlane, ports, online } = wiring;
  await dataPlane.prepare(policyTexts(touched));
  const surroundings = { service: ports.service, settings: await fileSettings(transaction) };
  const { change: changed, takeBack } = edgeChange(edgeObjects, touched, surroundings);
  transaction.undone(takeBack);
  await dataPlane.check(changed);
  refuseConflicts(touched, edgeObjects, online);
  await beforeSwap();
  const findings = takeEffect(dataPlane, transaction, touched, changed);
  const [finding, ...others] = findings.filter(({ severity }) => severity === 'error');
  if (finding === undefined) return;
  const { object } = touched.at(-1)!;
  const { document } = changed;
  const inObject = pointerInObject(finding.pointer, object, document) ?? pointerOfDuplicate(finding, object);
  const pointer = inObject ?? finding.pointer;
  const more = others.length > 0 ? { problems: String(others.length + 1) } : {};
  const ofEndpoint = object.kind === 'endpoint' && inObject?.startsWith('/traffic_policy') === true;
  const number = ofEndpoint ? ENDPOINT_NUMBERS.policy : numberOfFinding(finding);
  const what = ofEndpoint ? `${finding.code}: ${finding.message}` : finding.message;
  throw new ApiProblem(400, number, `The configuration is invalid: ${what}.`, {
    pointer,
    finding: finding.code,
    ...more,
  });
}

/** The place in a route that equals a later one of its edge, which the finding is about. */
function pointerOfDuplicate({ code, pointer }: Diagnostic, { kind, parent }: ResourceObject): string | null {
  const isSibling = kind === 'https_edge_route' && pointer.startsWith(`/edges/https/${parent!}/routes/`);
  return isSibling && code === 'edge.duplicate_route' ? '/match' : null;
}

/** The texts of the traffic policies of objects: cloud endpoints have them as such, others as a module. */
export function* policyTexts(touched: readonly Touched[]): Generator<string> {
  for (const { object, isGone } of touched) {
    const policy = isGone ? undefined : object.body['traffic_policy'];
    const text = typeof policy === 'object' && policy !== null ? (policy as Body)['value'] : policy;
    if (typeof text === 'string') yield text;
  }
}
