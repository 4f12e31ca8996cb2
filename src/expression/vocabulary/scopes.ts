import { type Scope, type Unavailable, type Variable, declareScope, variable } from '../scope.ts';
import { INT } from '../types.ts';
import { ACTION_ROWS, LAST_ATTEMPT } from './action_results.ts';
import type { Activation } from './activation.ts';
import { CONNECTION_VARIABLES } from './connection_variables.ts';
import { POLICY_VARIABLES, REQUEST_VARIABLES, RESPONSE_VARIABLES } from './exchange_variables.ts';
import { PHASE_FUNCTIONS, functionsOf } from './functions/table.ts';
import { LEGACY } from './legacy_names.ts';
import { type Phase, isKnownIn } from './phase.ts';

export interface Vocabulary {
  /** Name of the service in `actions.<service>.…`; `service` unless told. */
  readonly service?: string;
}

/** A phase, or the retry condition of `http-request`, which also sees its attempts. */
export type Place = Phase | 'retry_condition';

const known = new Map<string, Scope<Activation>>();

/** The variables and functions that an expression may use at a place. Scopes are made once and shared. */
export function scopeFor(place: Place, { service = 'service' }: Vocabulary = {}): Scope<Activation> {
  const key = `${place} ${service}`;
  let scope = known.get(key);
  if (scope === undefined) known.set(key, (scope = makeScope(place, service)));
  return scope;
}

function makeScope(place: Place, service: string): Scope<Activation> {
  const phase: Phase = place === 'retry_condition' ? 'on_http_request' : place;
  return declareScope<Activation>({
    name: place,
    functions: functionsOf(phase),
    variables: [
      ...CONNECTION_VARIABLES,
      ...(isKnownIn('on_http_request', phase) ? REQUEST_VARIABLES : []),
      ...(isKnownIn('on_http_response', phase) ? RESPONSE_VARIABLES : []),
      ...POLICY_VARIABLES,
      ...actionVariables(phase, service),
      ...(place === 'retry_condition' ? RETRY_VARIABLES : []),
    ],
    // The first that fits is told: what was renamed goes before what is known later.
    unavailable: [...LEGACY, ...laterVariables(phase, service), ...laterFunctions(phase)],
  });
}

/** Results of actions that may have run by now. */
function actionVariables(phase: Phase, service: string): readonly Variable<Activation>[] {
  return ACTION_ROWS.filter((row) => isKnownIn(row.since, phase)).map(({ name, action, doc, type }) =>
    variable(`actions.${service}.${name}`, type, `${doc} Of the last \`${action}\`, once one has run.`, {
      optional: true,
      read: (a: Activation) => a.results[name],
    }),
  );
}

export const RETRY_VARIABLES: readonly Variable<Activation>[] = [
  variable('attempts', INT, 'How many attempts there have been.', { read: (a: Activation) => a.attempts }),
  variable('last_attempt', LAST_ATTEMPT, 'The last attempt.', {
    optional: true,
    read: (a: Activation) => a.lastAttempt,
  }),
];

function laterVariables(phase: Phase, service: string): readonly Unavailable[] {
  const later: Unavailable[] = [];
  if (!isKnownIn('on_http_request', phase)) {
    later.push({ name: 'req', says: 'the request is known from on_http_request on' });
  }
  if (!isKnownIn('on_http_response', phase)) {
    later.push({ name: 'res', says: 'the response is known from on_http_response on' });
  }
  for (const { name, action, since } of ACTION_ROWS) {
    if (isKnownIn(since, phase)) continue;
    later.push({ name: `actions.${service}.${name}`, says: `\`${action}\` runs from ${since} on` });
  }
  return later;
}

function laterFunctions(phase: Phase): readonly Unavailable[] {
  return PHASE_FUNCTIONS.filter(([since]) => !isKnownIn(since, phase)).flatMap(([since, rows]) =>
    rows.map(({ name }) => ({ name, says: `${name}() can be called from ${since} on` })),
  );
}
