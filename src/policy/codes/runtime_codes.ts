import type { ErrorNumber } from '../../filters/fact_values.ts';
import { FILTERS } from '../../filters/table.ts';

// table: codes that any action may send
const OF_ANY_ACTION: readonly ErrorNumber[] = [
  {
    number: 2238,
    title: 'Template failed',
    means:
      'An expression between `${` and `}` failed for this request. The usual cause is reading an absent header or result.',
  },
  {
    number: 2249,
    title: 'Memory limit',
    means:
      'An expression exceeded the limits of an evaluation: too many steps, or values that are too large. The request is stopped.',
  },
  {
    number: 2253,
    title: 'Field expression failed',
    means: 'An expression in a field, such as a bucket_key, failed for this request.',
  },
  {
    number: 2254,
    title: 'Condition failed',
    means:
      'A condition of a rule failed for this request. The request is stopped: a rule that cannot be decided is not skipped.',
  },
  {
    number: 2300,
    title: 'Action failed',
    means: 'An action failed with an error that has no result of its own.',
  },
];

// table: codes of the service that no filter has
const OF_THE_SERVICE: readonly ErrorNumber[] = [
  {
    number: 2229,
    title: 'Unknown protocol',
    means: 'The service does not know the protocol of the endpoint.',
  },
  {
    number: 2232,
    title: 'Config not resolved',
    means: 'A config that passed the check could not be resolved, such as a reference in it.',
  },
  {
    number: 2233,
    title: 'Config not compiled',
    means: 'A config that passed the check and was resolved could not be compiled.',
  },
  {
    number: 2247,
    title: 'URL not read again',
    means: 'A URL that passed the check could not be parsed at a later step: a fault of the service.',
  },
  {
    number: 2255,
    title: 'Too many elements',
    means: 'An action has more elements of a kind than the service allows. Here it is 2218.',
  },
  {
    number: 2263,
    title: 'Policy not in the plan',
    means: 'The plan of the account does not include a feature of the policy.',
  },
  {
    number: 5537,
    title: 'Expression of a login failed',
    means: 'An expression in a login could not be evaluated. Here it is 2238.',
  },
  {
    number: 6029,
    title: 'Policy without an end',
    means: 'Traffic reached the end of the policy of a cloud endpoint. The check finds such policies: 2235.',
  },
  {
    number: 18002,
    title: 'Invalid policy of a cloud endpoint',
    means:
      'The management API refuses an endpoint because its policy has errors; the message has the code of the check.',
  },
];

/** The codes of running policies: those of the filters, and those that any action may send; in ascending order. */
export const RUNTIME_CODES: readonly ErrorNumber[] = ascending([
  ...OF_ANY_ACTION,
  ...FILTERS.flatMap(({ numbers = {} }) => Object.values(numbers)),
]);

/** The codes of the service that policies here do not send, in ascending order. */
export const OTHER_CODES: readonly ErrorNumber[] = ascending([
  ...OF_THE_SERVICE,
  ...FILTERS.flatMap(({ serviceNumbers = [] }) => serviceNumbers),
]);

/** Each number once: similar filters have some in common. */
function ascending(rows: readonly ErrorNumber[]): readonly ErrorNumber[] {
  const distinct = new Map(rows.map((row) => [row.number, row]));
  return [...distinct.values()].toSorted((one, other) => one.number - other.number);
}

/** Numbers of the public index whose page is empty. */
export const NUMBERS_WITHOUT_MEANING: readonly number[] = [2251];
