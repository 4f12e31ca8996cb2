import { ACTION_FACTS } from '../../filters/table.ts';

// table: codes and their sentences
const OF_POLICIES = {
  'policy.legacy_name': 'A former spelling that is still accepted.',
  'policy.legacy_enabled':
    'Older documents disable a policy inside the document; now its module or listener does.',
  'policy.never_runs': 'The rule is after one that always ends the phase.',
  'policy.same_condition': 'A rule that only logs has the same conditions as the rule after it.',
  'policy.clear_secret': 'A secret is in the document in clear text.',
  'policy.no_effect': 'The field has no effect here.',
  'policy.unknown_variable': 'No set-vars action of the phase sets the variable.',
  'policy.not_yet_set': 'The variable or result is used before the action that sets it can run.',
  'policy.unresolved_reference': 'The name can only be resolved in an edge file.',
  'policy.not_simulated':
    'The action is checked but not executed by this version: requests that reach it are stopped.',
  'policy.unknown_secret': 'No vault, or no secret in it, has this name.',
  'policy.path_in_variable': 'A rule guards by a variable that was derived from the path.',
  'policy.host_as_sent': 'A rule guards by the host as it was sent.',
  'policy.other_service_name':
    'Headers or codes in the document have the name of another service than this edge: they never occur here.',
  'policy.empty': 'The policy has no rule.',
  'policy.addition':
    'The service does not document this part of an expression; told by `edgeproof check --strict`.',
} as const;

/** A warning about policies as such; those of single actions are in their facts. */
export type PolicyWarning = keyof typeof OF_POLICIES;

const OF_ACTIONS = [...ACTION_FACTS.values()].flatMap(({ warnings = {} }) => Object.entries(warnings));

/** Our warnings, by code: valid, but probably a mistake or out of date. */
export const POLICY_WARNINGS: Readonly<Record<string, string>> = {
  ...OF_POLICIES,
  ...Object.fromEntries(OF_ACTIONS.map(([code, { message }]) => [code, message])),
};
