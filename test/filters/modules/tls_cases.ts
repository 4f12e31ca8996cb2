import type { CertificateDetails } from '../../../src/crypto/certificate_facts.ts';
import type { TlsFacts } from '../../../src/engine/contract.ts';
import type { Case } from './case.ts';

const NAME = {
  text: 'CN=robot',
  commonName: 'robot',
  country: [],
  locality: [],
  organization: [],
  organizationalUnit: [],
  postalCode: [],
  province: [],
  streetAddress: [],
};
/** The suite's clock is stopped at 1,800,000,000,000. */
const DETAILS: CertificateDetails = {
  issuer: NAME,
  subject: NAME,
  san: {
    text: 'DNS:robot.test, DNS:other.test, email:a@robot.test',
    dnsNames: ['robot.test', 'other.test'],
    emailAddresses: ['a@robot.test'],
    ipAddresses: [],
    uris: [],
  },
  extensions: [],
  signatureAlgorithm: 'SHA256-RSA',
  notBeforeMs: 1_700_000_000_000,
  notAfterMs: 1_800_000_001_000,
  pem: '',
};
const TLS: TlsFacts = {
  version: 'TLSv1.3',
  cipherSuite: 'TLS_AES_128_GCM_SHA256',
  edge: 'shop',
  clientCertificate: null,
};
const shown: TlsFacts = {
  ...TLS,
  clientCertificate: { serialNumber: '0a', subjectCn: 'roböt, 1', authority: 'partners', details: DETAILS },
};
const elsewhere = { ...shown, edge: 'other' };
const NONE = { status: 0, backend: null } as const;

/** Cases of the modules of edges: the result of the handshake is given. */
export const TLS_CASES: Readonly<Record<string, readonly Case[]>> = {
  tls_termination: [
    {
      name: 'serves with and without TLS by default',
      config: {},
      exchanges: [
        { expect: { status: 200, code: 'tls_termination.terminated' } },
        { request: { url: 'http://shop.test/' }, expect: { status: 200, code: 'tls_termination.plain' } },
      ],
    },
    {
      name: 'redirects to https, keeping method, path and query',
      config: { redirect_http: true },
      exchanges: [
        { tls: TLS, expect: { status: 200, code: 'tls_termination.terminated' } },
        {
          request: { method: 'POST', url: 'http://shop.test:8080/a%20b?c=d' },
          expect: {
            status: 308,
            code: 'tls_termination.redirected',
            backend: null,
            responseHeaders: { location: 'https://shop.test/a%20b?c=d' },
          },
        },
      ],
    },
    {
      name: 'does not serve on the older session of another name',
      config: { min_version: '1.3' },
      exchanges: [
        {
          tls: { ...TLS, version: 'TLSv1.2', edge: 'other' },
          expect: { status: 421, code: 'tls_termination.misdirected', backend: null },
        },
        { tls: { ...TLS, edge: 'other' }, expect: { status: 200, code: 'tls_termination.terminated' } },
      ],
    },
  ],
  mutual_tls: [
    {
      name: 'sends the identity of the client upstream',
      config: { certificate_authority_ids: ['staff', 'partners'] },
      exchanges: [
        {
          tls: shown,
          request: {
            headers: { 'service-mtls-subject-cn': 'forged', 'service-mtls-serial-number': 'forged' },
          },
          expect: {
            status: 200,
            code: 'mutual_tls.verified',
            upstreamHeaders: {
              'service-mtls-subject-cn': 'rob%c3%b6t%2c 1',
              'service-mtls-subject-alt-name-dns': 'robot.test,other.test',
              'service-mtls-email-addresses': 'a@robot.test',
              'service-mtls-serial-number': '0a',
            },
          },
        },
      ],
    },
    {
      name: 'lets no client pass without a good certificate',
      config: { certificate_authority_ids: ['partners'] },
      exchanges: [
        { tls: TLS, expect: { ...NONE, code: 'mutual_tls.no_certificate' } },
        {
          request: { url: 'http://shop.test/' },
          expect: { status: 403, backend: null, code: 'mutual_tls.no_tls' },
        },
        { tls: elsewhere, expect: { status: 421, backend: null, code: 'mutual_tls.misdirected' } },
        {
          tls: { ...shown, edge: '' },
          expect: { status: 421, backend: null, code: 'mutual_tls.misdirected' },
        },
        { tls: shown, afterMs: 1_001, expect: { ...NONE, code: 'mutual_tls.not_valid_now' } },
      ],
    },
    {
      name: 'trusts only its own authorities',
      config: { certificate_authority_ids: ['staff'] },
      exchanges: [{ tls: shown, expect: { ...NONE, code: 'mutual_tls.untrusted' } }],
    },
  ],
};
