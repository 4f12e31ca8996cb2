import type { EdgeConfig } from '../../edge/document/schema.ts';
import { modulesOf } from '../../coverage/placed_routes.ts';
import { type Asked, has, namedPool, textsFor } from './constants.ts';

/** A response of an upstream, as in a scenario. */
export type Answer =
  | number
  | string
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** Responses of upstreams that expressions and modules distinguish. */
export function answersOf(config: EdgeConfig, asked: readonly Asked[]): Answer[] {
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
  const valid = statuses.filter((status) => status >= 101 && status <= 599);
  return [500, 'refuse', ...valid, ...named, ...types, ...new Set(samples)];
}
