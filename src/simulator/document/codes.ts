import type { Severity } from '../../diagnostics/diagnostic.ts';

interface Code {
  /** Default: error. */
  readonly severity?: Severity;
  /** One sentence for the documentation of the code. */
  readonly message: string;
}

/** Codes of scenario files, in addition to those of reading and shape. */
// table: codes and their sentences
const CODES = {
  'scenario.no_edge': { message: 'A scenario names the edge or the policy that it tests.' },
  'scenario.unreadable': { message: 'The edge or the policy under test cannot be read.' },
  'scenario.no_request': { message: 'A case has a request, a timeline or a sample.' },
  'scenario.several_requests': { message: 'A case has exactly one kind.' },
  'scenario.no_expectation': { message: 'A case without expectations cannot fail.' },
  'scenario.duplicate_name': { message: 'Case names are unique in a file.' },
  'scenario.empty_table': { message: 'A table without rows has no cases.' },
  'scenario.bad_table': { message: 'A CSV file with cases cannot be read.' },
  'scenario.bad_include': { message: 'An included file cannot be read.' },
  'scenario.unknown_identity': { message: 'The identity does not exist.' },
  'scenario.bad_identity': { message: 'An identity has an invalid value.' },
  'scenario.unknown_backend': { message: 'The edge has no such backend.' },
  'scenario.unknown_agent': { message: 'No agent has this name.' },
  'scenario.bad_agent': { message: 'An agent has labels, or a URL and its options.' },
  'scenario.refused_bind': { message: 'The edge refuses the endpoint that an agent binds.' },
  'scenario.unknown_module': { message: 'The module does not exist.' },
  'scenario.bad_request': { message: 'The request is invalid.' },
  'scenario.bad_time': { message: 'Times are in RFC 3339 format.' },
  'scenario.bad_arrivals': { message: 'Arrivals have a rate or a log.' },
  'scenario.bad_nodes': { message: 'Nodes, cuts and what happens at nodes fit together.' },
  'scenario.bad_answer': { message: 'The scripted response is invalid.' },
  'scenario.bad_expectation': { message: 'The expectation is invalid.' },
  'scenario.bad_share': { message: 'Shares are probabilities from 0 to 1.' },
  'scenario.bad_facts': { message: 'The facts cannot be used.' },
  'scenario.by_chance': { severity: 'warning', message: 'A case passes with its seed, but not with others.' },
  'scenario.unused_upstream': { severity: 'warning', message: 'No case used this scripted upstream.' },
  'scenario.unselected_agent': {
    severity: 'warning',
    message: 'No backend of the edge asks for labels of this agent.',
  },
  'scenario.change_after_end': {
    severity: 'warning',
    message: 'A change of the simulation comes after its end.',
  },
  'scenario.unknown_placeholder': {
    severity: 'warning',
    message: 'No value has the name of this placeholder.',
  },
  'scenario.unused_identity': { severity: 'warning', message: 'No case sends requests as this identity.' },
} satisfies Record<string, Code>;

export type ScenarioCode = keyof typeof CODES;

export const SCENARIO_CODES: Readonly<Record<ScenarioCode, Code>> = CODES;
