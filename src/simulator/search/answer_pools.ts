import type { EdgeConfig } from '../../edge/document/schema.ts';
import { placedRoutes } from '../../coverage/placed_routes.ts';
import type { Actions } from './connection_pools.ts';
import { type Asked, has, namedPool, textsFor } from './constants.ts';

/** A response of an upstream, as in a scenario. */
export type Answer =
  | number
  | string
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** Responses of upstreams that expressions and modules tell apart. */
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
  const isCompressing = placedRoutes(config).some(({ route }) => route.compression !== undefined);
  const text = { 'content-type': 'text/plain' };
  const body = 'hello hello';
  const packed: Answer[] = isCompressing
    ? [
        { headers: text, body },
        { headers: { ...text, 'content-encoding': 'gzip' }, body },
        { headers: { ...text, 'cache-control': 'no-transform' }, body },
        { status: 206, headers: { ...text, 'content-range': 'bytes 0-10/4000' }, body },
        { headers: { 'content-type': 'image/png' }, body },
        204,
      ]
    : [];
  const removed = removedFields(config, actions).response;
  const fields = Object.fromEntries(Array.from(removed, (name) => [name, 'x']));
  const edited: Answer[] = removed.size === 0 ? [] : [{ headers: fields }, { status: 500, headers: fields }];
  const valid = statuses.filter((status) => status >= 101 && status <= 599);
  return [500, 'refuse', ...valid, ...named, ...types, ...edited, ...packed];
}

/** Names of fields, in lower case, that modules and actions remove; an action may stand in both phases. */
export function removedFields(
  config: EdgeConfig,
  actions: Actions,
): Readonly<Record<'request' | 'response', ReadonlySet<string>>> {
  const routes = placedRoutes(config).map(({ route }) => route);
  const ofActions = actions.flatMap(({ type, config: own }) =>
    type === 'remove-headers' ? (own as { readonly headers: readonly string[] }).headers : [],
  );
  const lowered = (names: readonly string[]) =>
    new Set([...names, ...ofActions].map((name) => name.toLowerCase()));
  return {
    request: lowered(routes.flatMap(({ request_headers: edits }) => edits?.remove ?? [])),
    response: lowered(routes.flatMap(({ response_headers: edits }) => edits?.remove ?? [])),
  };
}
