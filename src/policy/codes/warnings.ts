/** Findings of ours that forbid nothing: what is legal, but surely wrong or out of date. */
// table: codes and their sentences
export const POLICY_WARNINGS = {
  'policy.legacy_name': 'An older spelling that is still accepted.',
  'policy.legacy_enabled': 'Older documents switch a policy off inside; today its module or listener does.',
  'policy.never_runs': 'The rule stands after one that always ends the phase.',
  'policy.same_condition': 'A rule that only logs and the rule after it have the same conditions.',
  'policy.clear_secret': 'A secret stands in the document in clear.',
  'policy.blocks_everybody': 'No address can pass.',
  'policy.no_effect': 'The field has no meaning here.',
  'policy.body_not_sent': 'Responses of this status have no body.',
  'policy.interim_status': 'A status below 200 cannot end an exchange.',
  'policy.no_such_group': 'The replacement refers to a group that the pattern does not have.',
  'policy.group_as_template': 'A group of a pattern is written as a template.',
  'policy.unknown_variable': 'No set-vars action of the phase sets the variable.',
  'policy.not_yet_set': 'The variable or result is used before the action that makes it can run.',
  'policy.unresolved_reference': 'The name can only be looked up in an edge file.',
  'policy.not_simulated':
    'The action is checked but not run by this version: requests that reach it are stopped.',
  'policy.no_prefix': 'An Authorization header has a scheme before its token.',
  'policy.unknown_endpoint':
    'No HTTPS edge of the configuration has the host that forward-internal names: requests that reach it fail.',
  'policy.unknown_secret': 'No vault, or no secret in it, has this name.',
  'policy.empty': 'The policy has no rule.',
} as const;

export type PolicyWarning = keyof typeof POLICY_WARNINGS;
