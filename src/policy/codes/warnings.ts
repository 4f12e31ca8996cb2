/** Our warnings: valid, but probably a mistake or out of date. */
// table: codes and their sentences
export const POLICY_WARNINGS = {
  'policy.legacy_name': 'A former spelling that is still accepted.',
  'policy.legacy_enabled':
    'Older documents disable a policy inside the document; now its module or listener does.',
  'policy.never_runs': 'The rule is after one that always ends the phase.',
  'policy.same_condition': 'A rule that only logs has the same conditions as the rule after it.',
  'policy.clear_secret': 'A secret is in the document in clear text.',
  'policy.blocks_everybody': 'No address can pass.',
  'policy.no_effect': 'The field has no effect here.',
  'policy.body_not_sent': 'Responses with this status have no body.',
  'policy.interim_status': 'A status below 200 cannot end an exchange.',
  'policy.no_such_group': 'The replacement refers to a missing group of the pattern.',
  'policy.group_as_template':
    'A reference to a group is written as in another tool: `$1` is the first group.',
  'policy.unknown_variable': 'No set-vars action of the phase sets the variable.',
  'policy.not_yet_set': 'The variable or result is used before the action that sets it can run.',
  'policy.unresolved_reference': 'The name can only be resolved in an edge file.',
  'policy.not_simulated':
    'The action is checked but not executed by this version: requests that reach it are stopped.',
  'policy.no_prefix': 'An Authorization header has a scheme before its token.',
  'policy.discovery_url': 'The issuer is the URL of its discovery document, which is looked for below it.',
  'policy.unknown_endpoint':
    'No edge of the configuration has the host, or the address, that forward-internal names: what reaches it fails.',
  'policy.unknown_secret': 'No vault, or no secret in it, has this name.',
  'policy.path_in_variable': 'A rule guards by a variable that was derived from the path.',
  'policy.host_as_sent': 'A rule guards by the host as it was sent.',
  'policy.provider_keys':
    'Keys of a known provider: some pages of the service still show them in policies, and it refuses them today.',
  'policy.other_service_name':
    'Headers or codes in the document have the name of another service than this edge: they never occur here.',
  'policy.empty': 'The policy has no rule.',
  'policy.addition':
    'The service does not document this part of an expression; told by `edgeproof check --strict`.',
} as const;

export type PolicyWarning = keyof typeof POLICY_WARNINGS;
