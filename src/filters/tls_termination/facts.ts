import type { TlsProfile } from '../../engine/connection.ts';
import { CERTIFICATE } from '../../policy/env/certificates.ts';
import { STRING } from '../../cel/types.ts';
import { resultOf } from '../result_types.ts';
import { type Filter, NO_OTHER_HANDSHAKE } from '../facts.ts';
import type { EdgeKind } from '../phase.ts';
import type { TlsTerminationAtEdgeConfig, TlsTerminationConfig } from './module_schema.ts';
import type { TerminateTlsConfig } from './action_schema.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import { needsBoth } from '../field_checks.ts';

export const reasons = {
  'tls_termination.terminated': { message: 'the edge terminates TLS', decision: 'allow' },
  'tls_termination.passed': { message: 'TLS is passed through to the backend', decision: 'allow' },
  'tls_termination.plain': { message: 'the edge also serves requests without TLS', decision: 'allow' },
  'tls_termination.redirected': {
    message: 'a request without TLS is redirected to https',
    decision: 'block',
  },
  'tls_termination.misdirected': {
    message: 'the handshake was for another name, with a TLS version that is too old for this edge',
    decision: 'block',
  },
} as const;

export const messages = {
  terminated: 'the TLS session meets the policy',
  no_tls: 'the connection has no TLS to terminate',
  version: 'the TLS version of the session is not allowed',
  no_certificate: 'the client sent no certificate that the edge has verified',
  untrusted: 'the client certificate was not verified with the authorities of the policy',
  not_valid_now: 'the client certificate is not valid at this time',
};

export const tlsTermination = {
  module: {
    type: 'tls_termination',
    place: 'edge',
    edgeKinds: ['https', 'tls'],
    ends: 'may',
    reads: [],
    costNs: 50,
    cannotHappen: cannotTerminate,
    exempts: {
      which: (config) => ('redirect_http' in config && config.redirect_http ? null : 'plain'),
      reason: 'plain',
    },
    stopsPlain: (config) => 'redirect_http' in config && config.redirect_http,
    // Only connections that were made for another edge are too old; those of a TLS edge are its own.
    notInCases: (code, _config, edgeKind) =>
      code === 'misdirected' && edgeKind === 'https' ? NO_OTHER_HANDSHAKE : null,
    apiCodes: (edgeKind) =>
      edgeKind === 'https' ? { bad: 7109, below: { terminate_at: 7109 } } : { bad: 224 },
    fileOnly: ['redirect_http'],
    emptyIsUnset: ['/min_version', '/terminate_at'],
    reasons,
    examples: {
      good: [{ min_version: '1.3', redirect_http: true }],
      bad: [{ config: { min_version: '0.9' }, finding: 'edge.unknown_value' }],
    },
  },
  action: {
    type: 'terminate-tls',
    needsTls: true,
    secrets: ['/server_private_key'],
    phases: ['on_tcp_connect'],
    ends: { when: 'may', how: ['closed'] },
    result: resultOf('terminate_tls', 'The TLS session.', {
      cipher_suite: [STRING, 'Cipher suite.'],
      version: [STRING, 'TLS version.'],
      client: [CERTIFICATE, 'Certificate of the client.', 'optional'],
      server: [CERTIFICATE, 'Certificate of the server.', 'optional'],
      error_code: [STRING, 'Code of the error.', 'optional'],
      error_message: [STRING, 'Error message.', 'optional'],
    }),
    leavesRequest: false,
    reads: (config) => (requiresCertificate(config) ? ['client_certificate', 'clock'] : []),
    costNs: 80,
    clientAuthorities: requiredAuthorities,
    // Without required authorities the certificate is not read (`action.ts`).
    cannotHappen: (code, config) =>
      CERTIFICATE_PROBLEMS.has(code) && !requiresCertificate(config)
        ? 'the policy requires no client certificate'
        : null,
    notInCases: (code) =>
      code === 'untrusted' || code === 'not_valid_now'
        ? 'certificates of cases are valid and from a trusted authority'
        : null,
    check: checkAction,
    reasons: messages,
    examples: {
      good: [{ min_version: '1.3' }],
      bad: [{ config: { min_version: '1.3', max_version: '1.2' }, finding: 2204 }],
    },
  },
} satisfies Filter<ModuleConfig, TerminateTlsConfig>;

type ModuleConfig = TlsTerminationAtEdgeConfig | TlsTerminationConfig;

const CERTIFICATE_PROBLEMS: ReadonlySet<string> = new Set(['no_certificate', 'untrusted', 'not_valid_now']);

/** An action as it is written in a policy: it may lack fields, or have values of another kind. */
interface Written {
  readonly mutual_tls_certificate_authorities?: unknown;
  readonly mutual_tls_verification_strategy?: unknown;
}

/** The authorities that may issue client certificates for `terminate-tls`; null if it requires no certificate. */
export function requiredAuthorities(
  { mutual_tls_certificate_authorities: given, mutual_tls_verification_strategy: strategy }: Written,
  authorityPem: (id: string) => string,
): TlsProfile['authorities'] {
  const texts: readonly string[] = Array.isArray(given) ? given.map(String) : [];
  if (strategy === 'request' || (texts.length === 0 && strategy !== 'require-any')) return null;
  return texts.map((text) =>
    text.includes('-----BEGIN ') ? { name: '', pem: text } : { name: text, pem: authorityPem(text) },
  );
}

function requiresCertificate(config: TerminateTlsConfig): boolean {
  return requiredAuthorities(config, () => '') !== null;
}

/** Connections are `passed` or `terminated` by the config alone; requests differ by their scheme. */
function cannotTerminate(code: string, config: ModuleConfig, edgeKind: EdgeKind): string | null {
  const isPassed = 'terminate_at' in config && config.terminate_at !== 'edge';
  if (code === 'passed' && (edgeKind === 'https' || !isPassed)) return 'the edge terminates TLS';
  if (code === 'terminated' && isPassed) return 'TLS is passed through';
  if (edgeKind !== 'https')
    return /^(?:plain|redirected|misdirected)$/.test(code) ? 'this only happens for requests' : null;
  const redirects = 'redirect_http' in config && config.redirect_http;
  if (code === 'redirected' && !redirects) return 'requests without TLS are not redirected';
  return code === 'plain' && redirects ? 'requests without TLS are redirected' : null;
}

/** Checks that a key has its certificate, and that at least one TLS version is allowed. */
function checkAction(config: Sound<TerminateTlsConfig>, report: Report<number>): void {
  needsBoth(config, report, 'server_private_key', 'server_certificate');
  const { min_version: least, max_version: most } = config;
  if (least === undefined || most === undefined || least <= most) return;
  const message = `'min_version' ${least} is newer than 'max_version' ${most}`;
  report(2204, '/min_version', message, { hint: 'no version is allowed' });
}
