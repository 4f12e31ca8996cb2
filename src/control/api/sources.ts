import type { Body } from '../resources/contract.ts';
import { checkSource, eventSubscriptions, showSource, sourceSchema } from '../resources/events.ts';
import { parseValue } from '../resources/parse.ts';
import { checkMayWrite } from '../resources/permissions.ts';
import { pathOf } from '../resources/present.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { StoredObject } from '../store/port.ts';
import { change } from './change.ts';
import type { ApiRequest, Wiring } from './contract.ts';
import { type Shown, existing } from './objects.ts';

/** Sources belong to their subscription and are identified by their type. */

const updateSchema = sourceSchema.pick({ filter: true, fields: true });

export async function listSources(wiring: Wiring, asking: ApiRequest, id: string): Promise<Shown> {
  const subscription = await wiring.store.read((view) => existing(asking, eventSubscriptions, { id }, view));
  const uri = uriOf(subscription, asking);
  return { sources: sourcesOf(subscription).map((source) => showSource(source, uri)), uri: `${uri}/sources` };
}

export async function readSource(
  wiring: Wiring,
  asking: ApiRequest,
  id: string,
  type: string,
): Promise<Shown> {
  const subscription = await wiring.store.read((view) => existing(asking, eventSubscriptions, { id }, view));
  return showSource(sourceIn(subscription, type), uriOf(subscription, asking));
}

export function createSource(wiring: Wiring, asking: ApiRequest, id: string, raw: unknown): Promise<Shown> {
  const source = parseValue(sourceSchema, raw, { subscription_id: id });
  checkSource(source, '', wiring.ports);
  return changeSources(wiring, asking, id, (sources) => {
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
export function updateSource(
  wiring: Wiring,
  asking: ApiRequest,
  id: string,
  type: string,
  raw: unknown,
): Promise<Shown> {
  const given = parseValue(updateSchema, raw, { subscription_id: id, type });
  return changeSources(wiring, asking, id, (sources) => {
    const before = sources.find((source) => source['type'] === type);
    if (before === undefined) throw noSource(type);
    const source = { ...before, ...given };
    checkSource(source, '', wiring.ports);
    return { sources: sources.map((each) => (each === before ? source : each)), source };
  });
}

export async function removeSource(
  wiring: Wiring,
  asking: ApiRequest,
  id: string,
  type: string,
): Promise<void> {
  await changeSources(wiring, asking, id, (sources) => {
    const rest = sources.filter((source) => source['type'] !== type);
    if (rest.length === sources.length) throw noSource(type);
    return { sources: rest, source: {} };
  });
}

function changeSources(
  wiring: Wiring,
  asking: ApiRequest,
  id: string,
  work: (sources: readonly Body[]) => { readonly sources: readonly Body[]; readonly source: Body },
): Promise<Shown> {
  checkMayWrite(asking.principal, eventSubscriptions.kind, eventSubscriptions.title);
  return change(wiring, asking, async ({ transaction, put }) => {
    const subscription = await existing(asking, eventSubscriptions, { id }, transaction);
    const { sources, source } = work(sourcesOf(subscription));
    const changed = { ...subscription, body: { ...subscription.body, sources } };
    await put(eventSubscriptions, changed, 'updated');
    return showSource(source, uriOf(subscription, asking));
  });
}

function sourcesOf({ body }: StoredObject): readonly Body[] {
  return body['sources'] as readonly Body[];
}

function sourceIn(subscription: StoredObject, type: string): Body {
  const source = sourcesOf(subscription).find((each) => each['type'] === type);
  if (source === undefined) throw noSource(type);
  return source;
}

function noSource(type: string): ApiProblem {
  return new ApiProblem(404, COMMON.notFound, `The subscription has no source of type '${type}'.`);
}

function uriOf(subscription: StoredObject, { base }: ApiRequest): string {
  return base + pathOf(eventSubscriptions, subscription);
}
