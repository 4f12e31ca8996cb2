import { NO_OTHER_HANDSHAKE } from '../facts.ts';
import { checkModule, findings } from './check.ts';
import type { Filter } from '../facts.ts';
import type { MutualTlsConfig } from './module_schema.ts';

export const reasons = {
  'mutual_tls.verified': {
    message: 'the certificate of the client is of a trusted authority',
    decision: 'allow',
  },
  'mutual_tls.no_tls': {
    message: 'without TLS a client cannot show a certificate',
    decision: 'block',
  },
  'mutual_tls.no_certificate': { message: 'the client showed no certificate', decision: 'block' },
  'mutual_tls.untrusted': {
    message: 'the certificate of the client is of an authority that this edge does not trust',
    decision: 'block',
  },
  'mutual_tls.not_valid_now': {
    message: 'the certificate of the client is not valid at this time',
    decision: 'block',
  },
  'mutual_tls.misdirected': {
    message: 'the handshake was made for another name, so no certificate was asked for this edge',
    decision: 'block',
  },
} as const;

export const mutualTls = {
  module: {
    type: 'mutual_tls',
    place: 'edge',
    carriers: ['https', 'tls'],
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
    cannotHappen: (code, _config, carrier) => {
      if (code === 'misdirected') return NO_OTHER_HANDSHAKE;
      if (code === 'untrusted' || code === 'not_valid_now')
        return 'certificates of cases are valid and from a trusted authority';
      if (code === 'no_certificate' && carrier === 'https')
        return 'without a client certificate, requests of cases have no TLS';
      return code === 'no_tls' && carrier !== 'https' ? 'connections of this edge have TLS' : null;
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
