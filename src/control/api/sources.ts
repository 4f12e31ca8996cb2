import type { Body, ResourceObject } from '../resources/contract.ts';
import {
  checkSource,
  eventSubscriptions,
  showSource,
  sourceSchema,
  sourceUpdateSchema,
} from '../resources/events.ts';
import { parseValue } from '../resources/parse.ts';
import { checkMayWrite } from '../resources/permissions.ts';
import { pathOf, sorted } from '../resources/present.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { View } from '../store/port.ts';
import { change } from './change.ts';
import type { ApiRequest, Shown, Wiring } from './contract.ts';
import { connected, existing } from './objects.ts';

/** Sources belong to their subscription and are identified by their type. */

/** A request about sources; without a path to one of them `type` is empty. */
export interface SourceRequest {
  readonly wiring: Wiring;
  readonly asking: ApiRequest;
  /** Id of the subscription. */
  readonly subscription: string;
  readonly type: string;
}

export async function listSources(request: SourceRequest): Promise<Shown> {
  const subscription = await request.wiring.store.read((view) => subscriptionOf(request, view));
  const uri = uriOf(subscription, request);
  return {
    sources: sourcesOf(subscription).map((source) => shownSource(source, uri)),
    uri: `${uri}/sources`,
  };
}

export async function readSource(request: SourceRequest): Promise<Shown> {
  const subscription = await request.wiring.store.read((view) => subscriptionOf(request, view));
  const source = sourcesOf(subscription).find((each) => each['type'] === request.type);
  if (source === undefined) throw noSource(request.type);
  return shownSource(source, uriOf(subscription, request));
}

export async function createSource(request: SourceRequest, raw: unknown): Promise<Shown> {
  checkMayChange(request);
  const source = parseValue(sourceSchema, raw, { subscription_id: request.subscription });
  checkSource(source, '', request.wiring.ports);
  return changeSources(request, (sources) => {
    if (sources.some(({ type }) => type === source['type'])) {
      throw new ApiProblem(409, COMMON.badValue, `The subscription already has a source of this type.`, {
        pointer: '/type',
      });
    }
    return { sources: [...sources, source], source };
  });
}

/**
 * Changes filter and fields. According to the specification nothing can be changed, so clients usually send
 * an empty object.
 */
export async function updateSource(request: SourceRequest, raw: unknown): Promise<Shown> {
  checkMayChange(request);
  const { subscription, type, wiring } = request;
  const given = parseValue(sourceUpdateSchema, raw, { subscription_id: subscription, type });
  return changeSources(request, (sources) => {
    const before = sources.find((source) => source['type'] === type);
    if (before === undefined) throw noSource(type);
    const source = { ...before, ...given };
    checkSource(source, '', wiring.ports);
    return { sources: sources.map((each) => (each === before ? source : each)), source };
  });
}

export async function removeSource(request: SourceRequest): Promise<void> {
  checkMayChange(request);
  const { type } = request;
  await changeSources(request, (sources) => {
    const rest = sources.filter((source) => source['type'] !== type);
    if (rest.length === sources.length) throw noSource(type);
    return { sources: rest, source: {} };
  });
}

/** A caller without permission does not learn whether what it sent is valid. */
function checkMayChange({ asking: { principal } }: SourceRequest): void {
  checkMayWrite(principal, eventSubscriptions.kind, eventSubscriptions.title);
}

function changeSources(
  request: SourceRequest,
  work: (sources: readonly Body[]) => { readonly sources: readonly Body[]; readonly source: Body },
): Promise<Shown> {
  const { wiring, asking } = request;
  return change(wiring, asking, async ({ transaction, put }) => {
    const subscription = await subscriptionOf(request, transaction);
    const { sources, source } = work(sourcesOf(subscription));
    const body = { ...subscription.body, sources };
    const changed = connected(eventSubscriptions, subscription.id, null, body);
    await put(eventSubscriptions, changed, 'updated');
    return shownSource(source, uriOf(subscription, request));
  });
}

function shownSource(source: Body, subscriptionUri: string): Shown {
  return sorted(showSource(source, subscriptionUri));
}

function sourcesOf({ body }: ResourceObject): readonly Body[] {
  return body['sources'] as readonly Body[];
}

function subscriptionOf({ asking, subscription }: SourceRequest, view: View): Promise<ResourceObject> {
  return existing({ asking, resource: eventSubscriptions, ids: { id: subscription } }, view);
}

function noSource(type: string): ApiProblem {
  return new ApiProblem(404, COMMON.notFound, `The subscription has no source of type '${type}'.`);
}

function uriOf(subscription: ResourceObject, { asking }: SourceRequest): string {
  return asking.base + pathOf(eventSubscriptions, subscription);
}
