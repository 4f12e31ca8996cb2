import type { EdgeConfig } from '../../edge/document/schema.ts';
import { modulesOf } from '../../coverage/placed_routes.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import type { Actions } from './connection_pools.ts';
import { type Asked, has, namedPool, textsFor } from './constants.ts';

/** A response of an upstream, as in a scenario. */
export type Answer =
  | number
  | string
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** Responses of upstreams that expressions and modules distinguish. */
export function answersOf(config: EdgeConfig, asked: readonly Asked[], actions: Actions): Answer[] {
  const statuses = asked
    .filter(({ variables }) => has(variables, /^res\.status_code/))
    .flatMap(({ numbers }) => numbers.flatMap((status) => [status - 1, status, status + 1]));
  const named = Array.from(namedPool(asked, 'response_header'), ([name, values]) =>
    [...values].flatMap((value): Answer[] => (value === null ? [] : [{ headers: { [name]: value } }])),
  ).flat();
  const types = textsFor(asked, /^res\.content_type/).map((type): Answer => ({
    headers: { 'content-type': type },
    body: 'data: x\n\n',
  }));
  const samples = modulesOf(config).flatMap(({ facts, config: own }) => facts.samples?.(own).answers ?? []);
  const removed = removedFields(config, actions, 'response');
  const fields = Object.fromEntries(Array.from(removed, (name) => [name, 'x']));
  const edited: Answer[] = removed.size === 0 ? [] : [{ headers: fields }, { status: 500, headers: fields }];
  const valid = statuses.filter((status) => status >= 101 && status <= 599);
  return [500, 'refuse', ...valid, ...named, ...types, ...edited, ...new Set(samples)];
}

/** Names of fields, in lower case, that modules and actions remove from a message. */
export function removedFields(
  config: EdgeConfig,
  actions: Actions,
  message: 'request' | 'response',
): ReadonlySet<string> {
  const names = [
    ...modulesOf(config).flatMap(({ facts, config: own }) => facts.removes?.(own)[message] ?? []),
    ...actions.flatMap(
      ({ type, config: own }) => ACTION_FACTS.get(type)?.removes?.(own as never)[message] ?? [],
    ),
  ];
  return new Set(names.map((name) => name.toLowerCase()));
}
