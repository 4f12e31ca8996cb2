import type { PolicyWarning } from '../../policy/codes/warnings.ts';

/** Cures of warnings about policies. */
// table: examples and cures of codes
export const POLICY_CURES: Readonly<Record<PolicyWarning, readonly [example: string, cure: string]>> = {
  'policy.legacy_name': ['`inbound` instead of `on_http_request`', 'Write the new name; `check --fix` does'],
  'policy.legacy_enabled': [
    '`enabled: false` at the top of a policy',
    'Set `enabled: false` at the module `traffic_policy`',
  ],
  'policy.never_runs': [
    'A rule after one that denies every request',
    'Move it before that rule, or give that rule an expression',
  ],
  'policy.same_condition': [
    "Two rules with `req.method == 'GET'`, of which the first logs",
    'Join their actions in one rule',
  ],
  'policy.clear_secret': [
    '`credentials: [ann:secret]`',
    "Put it into a vault and write secrets.get('vault', 'name'), or ${env:NAME}",
  ],
  'policy.no_effect': ['`headers` of a redirect that nothing reads', 'Remove the field'],
  'policy.unknown_variable': [
    '`vars.tema` where `set-vars` sets `team`',
    'Correct the name, or set the variable before',
  ],
  'policy.not_yet_set': [
    'A rule that reads `vars.team` before the rule that sets it',
    'Move the rule that sets it up',
  ],
  'policy.unresolved_reference': [
    'An IP policy by name in a policy without an edge file',
    'Check the edge file that uses the policy',
  ],
  'policy.not_simulated': [
    'The action `ai-gateway`',
    'Remove it for tests, or run with `--pass-unsimulated`',
  ],
  'policy.unknown_secret': [
    "`secrets.get('prod', 'key')` without such a vault",
    'Correct the names, or add the secret to `secrets` of the scenario',
  ],
  'policy.path_in_variable': [
    'A guard on `vars.area`, which was set from the path',
    'Compare `req.url.path` itself: it is checked in every spelling',
  ],
  'policy.host_as_sent': [
    "A guard on `req.host == 'admin.test'`",
    'Compare `req.url.host`: it is in lower case, without port and final dot',
  ],
  'policy.other_service_name': [
    '`acme-auth-user-id` where the service is called `service`',
    'Use the name of the service, or give it with `--service-name`',
  ],
  'policy.empty': ['`on_http_request: []`', 'Add a rule with an action'],
  'policy.addition': [
    'A function that only edgeproof documents',
    'Use a documented one, or leave `--strict` out',
  ],
};
