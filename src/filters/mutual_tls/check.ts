import type { Report, Sound } from '../../diagnostics/report.ts';
import type { ModulePlace } from '../fact_values.ts';
import { AUTHORITIES_LIMIT } from './algorithm.ts';
import type { MutualTlsConfig } from './module_schema.ts';

export const findings = {
  'edge.too_many_authorities': {
    cure: ['Eleven names in `certificate_authority_ids`', 'Join authorities in one PEM file, or remove some'],
    message: 'Mutual TLS has at most ten certificate authorities.',
  },
  'edge.termination_elsewhere': {
    cure: [
      '`mutual_tls` at a TLS edge that passes TLS through',
      'Terminate TLS at the edge, or check certificates at the upstream',
    ],
    message: 'Client certificates require that the edge itself terminates TLS.',
  },
} as const;

/** Checks the number of authorities, and that the edge can see certificates of clients. */
export function checkModule(
  { enabled, certificate_authority_ids: authorities = [] }: Sound<MutualTlsConfig>,
  report: Report<keyof typeof findings>,
  { terminatesTls }: ModulePlace,
): void {
  const count = authorities.length;
  if (count > AUTHORITIES_LIMIT) {
    const message = `there are ${count} certificate authorities; at most ${AUTHORITIES_LIMIT} are allowed`;
    report('edge.too_many_authorities', '/certificate_authority_ids', message, { at: 'key' });
  }
  if (enabled === false || terminatesTls) return;
  const message = 'this edge passes TLS through, so it never sees a client certificate';
  report('edge.termination_elsewhere', '', message, { at: 'key' });
}
