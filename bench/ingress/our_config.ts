import { readFileSync } from 'node:fs';
import {
  DENIED_AGENTS,
  DENIED_CLIENT,
  DENIED_RANGES,
  HOST,
  POLICY,
  REQUEST_EDITS,
  RESPONSE_EDITS,
} from './everything_on.ts';
import type { Site } from './servers.ts';

/** An edge file, as JSON, that forwards everything for one host to a port of this machine. */
export function ourConfig({ upstreamPort, tlsPort, certificate, key }: Site, allOn: boolean): string {
  return JSON.stringify({
    backends: { app: { static: { address: `127.0.0.1:${upstreamPort}` } } },
    ...(tlsPort > 0 && {
      tls_certificates: {
        site: {
          certificate_pem: readFileSync(certificate, 'utf8'),
          private_key_pem: readFileSync(key, 'utf8'),
        },
      },
    }),
    ...(allOn && { ip_policies: { ranges: { rules: ranges() } } }),
    edges: {
      https: {
        site: {
          hostports: [`${HOST}:443`],
          routes: [
            { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, ...(allOn && MODULES) },
          ],
        },
      },
    },
  });
}

function ranges(): object[] {
  return [
    { cidr: '0.0.0.0/0', action: 'allow' },
    ...[...DENIED_RANGES, `${DENIED_CLIENT}/32`].map((cidr) => ({ cidr, action: 'deny' })),
  ];
}

const MODULES = {
  ip_restriction: { ip_policy_ids: ['ranges'] },
  user_agent_filter: { deny: DENIED_AGENTS },
  request_headers: REQUEST_EDITS,
  response_headers: RESPONSE_EDITS,
  compression: {},
  traffic_policy: { value: JSON.stringify(POLICY) },
};
