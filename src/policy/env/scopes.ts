import {
  type Allowance,
  type Scope,
  type Unavailable,
  type Variable,
  declareScope,
  variable,
} from '../../cel/scope.ts';
import { INT, type Type } from '../../cel/types.ts';
import { LAST_ATTEMPT } from '../../filters/http_request/facts.ts';
import { type ScopePhase, isKnownIn, scopePhase } from '../../filters/phase.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import type { Activation } from './activation.ts';
import { CONNECTION_VARIABLES } from './connection_variables.ts';
import { POLICY_VARIABLES, REQUEST_VARIABLES, RESPONSE_VARIABLES } from './exchange_variables.ts';
import { PHASE_FUNCTIONS, functionsOf } from './functions/table.ts';
import { LEGACY } from './legacy_names.ts';
import { TEXT_FORMS } from './text_forms.ts';

export interface Vocabulary {
  /** Name of the service in `actions.<service>.…`; default `service`. */
  readonly service?: string;
}

/** A phase, or the scope that the schema of a field names (`FieldScope`): `retry` also has the attempts. */
export type Place = ScopePhase | 'retry';

const known = new Map<string, Scope<Activation>>();

/** The variables and functions available at a place. Scopes are created once and shared. */
export function scopeFor(place: Place, { service = 'service' }: Vocabulary = {}): Scope<Activation> {
  const key = `${place} ${service}`;
  let scope = known.get(key);
  if (scope === undefined) known.set(key, (scope = makeScope(place, service)));
  return scope;
}

function makeScope(place: Place, service: string): Scope<Activation> {
  const phase: ScopePhase = place === 'retry' ? 'on_http_request' : place;
  return declareScope<Activation>({
    name: place,
    functions: functionsOf(phase),
    variables: [
      ...CONNECTION_VARIABLES,
      ...(isKnownIn('on_http_request', phase) ? REQUEST_VARIABLES : []),
      ...(isKnownIn('on_http_response', phase) ? RESPONSE_VARIABLES : []),
      ...POLICY_VARIABLES,
      ...actionVariables(phase, service),
      ...(place === 'retry' ? RETRY_VARIABLES : []),
    ],
    allowance: ALLOWANCE,
    forms: TEXT_FORMS,
    // The first match is reported: renamed names take precedence over those of later phases.
    unavailable: [...LEGACY, ...laterVariables(phase, service), ...laterFunctions(phase)],
  });
}

/** The budget that all expressions of an exchange share: a policy with many costly expressions fails like one with a single too costly one. */
const ALLOWANCE: Allowance<Activation> = {
  left: ({ unitsLeft }) => unitsLeft,
  spend: (activation, units) => {
    activation.unitsLeft -= units;
  },
};

/** Results of all actions that expressions can read, and the first phase in which they may be there. */
const RESULTS = Array.from(ACTION_FACTS.values()).flatMap(({ type: action, phases, result }) => {
  const [first] = phases;
  if (result?.row === undefined || first === undefined) return [];
  return [{ name: result.name, action, since: scopePhase(first), ...result.row }];
});

/** Results of actions that may have run at this point. */
function actionVariables(phase: ScopePhase, service: string): readonly Variable<Activation>[] {
  return RESULTS.filter(({ since }) => isKnownIn(since, phase)).map(({ name, action, doc, type }) =>
    variable(
      `actions.${service}.${name}`,
      typeOf(type, service),
      `${doc} Of the last \`${action}\`, if one has run.`,
      {
        optional: true,
        read: (a: Activation) => a.results[name],
      },
    ),
  );
}

/** Some members of results are named after the service. */
function typeOf(type: Type | ((service: string) => Type), service: string): Type {
  return typeof type === 'function' ? type(service) : type;
}

export const RETRY_VARIABLES: readonly Variable<Activation>[] = [
  variable('attempts', INT, 'Number of attempts so far.', { read: (a: Activation) => a.attempts }),
  variable('last_attempt', LAST_ATTEMPT, 'The last attempt.', {
    optional: true,
    read: (a: Activation) => a.lastAttempt,
  }),
];

function laterVariables(phase: ScopePhase, service: string): readonly Unavailable[] {
  const later: Unavailable[] = [];
  if (!isKnownIn('on_http_request', phase)) {
    later.push({ name: 'req', message: 'the request is known from on_http_request on' });
  }
  if (!isKnownIn('on_http_response', phase)) {
    later.push({ name: 'res', message: 'the response is known from on_http_response on' });
  }
  for (const { name, action, since } of RESULTS) {
    if (isKnownIn(since, phase)) continue;
    later.push({ name: `actions.${service}.${name}`, message: `\`${action}\` runs from ${since} on` });
  }
  return later;
}

function laterFunctions(phase: ScopePhase): readonly Unavailable[] {
  return PHASE_FUNCTIONS.filter(([since]) => !isKnownIn(since, phase)).flatMap(([since, rows]) =>
    rows.map(({ name }) => ({ name, message: `${name}() can be called from ${since} on` })),
  );
}
