import { type Filter, NO_OTHER_HANDSHAKE } from '../facts.ts';
import { checkModule, findings } from './check.ts';
import type { MutualTlsConfig } from './module_schema.ts';

export const reasons = {
  'mutual_tls.verified': {
    message: 'the client certificate was issued by a trusted authority',
    decision: 'allow',
  },
  'mutual_tls.no_tls': {
    message: 'the request came without TLS, so there is no client certificate',
    decision: 'block',
  },
  'mutual_tls.no_certificate': { message: 'the client sent no certificate', decision: 'block' },
  'mutual_tls.untrusted': {
    message: 'the client certificate was not issued by a trusted authority',
    decision: 'block',
  },
  'mutual_tls.not_valid_now': {
    message: 'the client certificate is not valid at this time',
    decision: 'block',
  },
  'mutual_tls.misdirected': {
    message: 'the handshake was for another name, so no certificate was requested for this edge',
    decision: 'block',
  },
} as const;

export const mutualTls = {
  module: {
    type: 'mutual_tls',
    place: 'edge',
    edgeKinds: ['https', 'tls'],
    ends: 'may',
    reads: ['client_certificate', 'clock'],
    costNs: 50,
    references: [
      {
        kind: 'certificate_authority',
        at: '/certificate_authority_ids/*',
        shownAs: 'certificate_authorities',
        missing: 7072,
        wrong: 228,
      },
    ],
    apiCodes: { bad: 7075 },
    // A TLS edge takes connections after their handshake only.
    cannotHappen: (code, _config, edgeKind) =>
      code === 'no_tls' && edgeKind !== 'https' ? 'connections of this edge have TLS' : null,
    notInCases: (code) => {
      if (code === 'misdirected') return NO_OTHER_HANDSHAKE;
      if (code === 'untrusted' || code === 'not_valid_now')
        return 'certificates of cases are valid and from a trusted authority';
      return null;
    },
    check: checkModule,
    findings,
    reasons,
    examples: {
      good: [{ certificate_authority_ids: ['partners'] }],
      bad: [{ config: { certificate_authority_ids: [] }, finding: 'edge.empty_value' }],
    },
  },
} satisfies Filter<MutualTlsConfig>;
