import type { Diagnostic } from '../../diagnostics/diagnostic.ts';

/** The service's error numbers for findings of the edge file checker; all others are 215. */
// table: checker codes and the service's numbers
const NUMBERS: Readonly<Record<string, number>> = {
  'edge.unknown_backend': 6514,
  'edge.unknown_ip_policy': 1402,
  'edge.nested_backend': 6524,
  'edge.backend_cycle': 6524,
  'edge.bad_address': 6505,
  'edge.bad_hostport': 7104,
  'edge.duplicate_hostport': 7122,
  'edge.bad_match': 7131,
  'edge.duplicate_route': 7126,
  'edge.several_logins': 7079,
  'edge.oauth_provider': 7033,
  'edge.oauth_app': 7034,
  'edge.bad_cidr': 1406,
  'edge.duplicate_cidr': 1408,
  'edge.bad_pattern': 2090,
  'edge.bad_header': 7023,
};

/** The error number of a finding. */
export function numberOfFinding({ code, reason }: Pick<Diagnostic, 'code' | 'reason'>): number {
  if (code === 'edge.webhook_secret') return reason === 'secret_forbidden' ? 7026 : 7027;
  const own = /^ERR_[A-Z_]+_(\d+)$/.exec(code);
  return own === null ? (NUMBERS[code] ?? 215) : Number(own[1]);
}
