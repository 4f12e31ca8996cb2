import type { Severity } from '../../diagnostics/diagnostic.ts';

interface Code {
  readonly severity: Severity;
  /** One sentence for the documentation of the code. */
  readonly message: string;
}

/** Codes of scenario files, in addition to those of reading and shape. */
// table: codes and their sentences
export const SCENARIO_CODES = {
  'scenario.no_edge': {
    severity: 'error',
    message: 'A scenario names the edge or the policy that it tests.',
  },
  'scenario.unreadable': { severity: 'error', message: 'The edge or the policy under test cannot be read.' },
  'scenario.no_request': { severity: 'error', message: 'A case has a request, a timeline or a sample.' },
  'scenario.several_requests': { severity: 'error', message: 'A case has exactly one kind.' },
  'scenario.no_expectation': { severity: 'error', message: 'A case without expectations cannot fail.' },
  'scenario.duplicate_name': { severity: 'error', message: 'Case names are unique in a file.' },
  'scenario.empty_table': { severity: 'error', message: 'A table without rows has no cases.' },
  'scenario.unknown_identity': { severity: 'error', message: 'The identity does not exist.' },
  'scenario.bad_identity': { severity: 'error', message: 'An identity has an invalid value.' },
  'scenario.unknown_backend': { severity: 'error', message: 'The edge has no such backend.' },
  'scenario.unknown_module': { severity: 'error', message: 'The module does not exist.' },
  'scenario.bad_request': { severity: 'error', message: 'The request is invalid.' },
  'scenario.bad_time': { severity: 'error', message: 'Times are in RFC 3339 format.' },
  'scenario.bad_answer': { severity: 'error', message: 'The scripted response is invalid.' },
  'scenario.bad_expectation': { severity: 'error', message: 'The expectation is invalid.' },
  'scenario.bad_share': { severity: 'error', message: 'Shares are probabilities from 0 to 1.' },
  'scenario.bad_facts': { severity: 'error', message: 'The facts cannot be used.' },
  'scenario.unused_upstream': { severity: 'warning', message: 'No case used this scripted upstream.' },
  'scenario.unused_identity': { severity: 'warning', message: 'No case sends requests as this identity.' },
} as const satisfies Record<string, Code>;

export type ScenarioCode = keyof typeof SCENARIO_CODES;
