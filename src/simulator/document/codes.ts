import type { Severity } from '../../diagnostics/diagnostic.ts';

interface Code {
  readonly severity: Severity;
  /** One sentence for whoever looks the code up. */
  readonly says: string;
}

/** Findings of scenario files beyond those of reading and of shape, which any file has. */
// table: codes and their sentences
export const SCENARIO_CODES = {
  'scenario.no_edge': { severity: 'error', says: 'A scenario names the edge or the policy that it tests.' },
  'scenario.unreadable': { severity: 'error', says: 'The edge or the policy under test cannot be read.' },
  'scenario.no_request': { severity: 'error', says: 'A case has a request, a timeline or a sample.' },
  'scenario.several_requests': { severity: 'error', says: 'A case is of exactly one kind.' },
  'scenario.no_expectation': { severity: 'error', says: 'A case that expects nothing cannot fail.' },
  'scenario.duplicate_name': { severity: 'error', says: 'A name belongs to one case of a file.' },
  'scenario.empty_table': { severity: 'error', says: 'A table without rows makes no case.' },
  'scenario.unknown_identity': { severity: 'error', says: 'No identity has this name.' },
  'scenario.bad_identity': { severity: 'error', says: 'An identity says what none can.' },
  'scenario.unknown_backend': { severity: 'error', says: 'No backend of the edge has this name.' },
  'scenario.unknown_module': { severity: 'error', says: 'No module has this name.' },
  'scenario.bad_request': { severity: 'error', says: 'The request cannot be sent as it is written.' },
  'scenario.bad_time': { severity: 'error', says: 'A time is written as RFC 3339 has it.' },
  'scenario.bad_answer': { severity: 'error', says: 'An upstream cannot answer like this.' },
  'scenario.bad_expectation': { severity: 'error', says: 'This cannot be expected.' },
  'scenario.bad_share': { severity: 'error', says: 'Shares are probabilities from 0 to 1.' },
  'scenario.bad_facts': { severity: 'error', says: 'The facts cannot be used.' },
  'scenario.unused_upstream': { severity: 'warning', says: 'No case reached this scripted upstream.' },
  'scenario.unused_identity': { severity: 'warning', says: 'No case asks as this identity.' },
} as const satisfies Record<string, Code>;

export type ScenarioCode = keyof typeof SCENARIO_CODES;
