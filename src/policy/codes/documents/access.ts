import { type DocumentCode, action, request } from '../code.ts';

// table: codes of logins, user names and addresses, with their examples
export const ACCESS_CODES: readonly DocumentCode[] = [
  {
    number: 385,
    title: 'openid-connect without a client id',
    means: 'A login at an OpenID provider needs the client id of an app that is registered there.',
    bad: request(`      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_secret: \${secrets.get('login', 'secret')}
`),
    good: request(`      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
`),
  },
  {
    number: 386,
    title: 'openid-connect without a client secret',
    means: 'A login at an OpenID provider needs the client secret of an app that is registered there.',
    bad: request(`      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_id: shop
`),
    good: request(`      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
`),
  },
  {
    number: 393,
    title: 'Denied addresses without allowed ones',
    means:
      'An address passes restrict-ips only if a range allows it and none denies it. With denied ranges only, no address would pass: allow all others explicitly.',
    bad: action('restrict-ips { deny: [192.0.2.0/24] }'),
    good: action(`restrict-ips { allow: [0.0.0.0/0, '::/0'], deny: [192.0.2.0/24] }`),
  },
  {
    number: 2216,
    title: 'Unknown IP policy',
    means: 'The action refers to an IP policy that does not exist.',
    ipPolicies: ['office', 'partners'],
    bad: action('restrict-ips { ip_policies: [ofice] }'),
    good: action('restrict-ips { ip_policies: [office] }'),
  },
  {
    number: 2217,
    title: 'Invalid address range',
    means: 'A range is an address with a prefix length, without bits set beyond the prefix.',
    bad: action('restrict-ips { allow: [192.0.2.1/24] }'),
    good: action('restrict-ips { allow: [192.0.2.0/24] }'),
  },
  {
    number: 2227,
    title: 'No OpenID discovery',
    means:
      'The discovery document of a provider is below its issuer, so an issuer has neither a query nor a fragment (OpenID Connect Discovery 1.0 §3). The service also fetches that document; this checker does not.',
    bad: `on_http_request:
  - actions:
      - type: openid-connect
        config:
          issuer_url: https://login.example.test?tenant=shop
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
`,
    good: `on_http_request:
  - actions:
      - type: openid-connect
        config:
          issuer_url: https://login.example.test/shop
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
`,
  },
  {
    number: 2239,
    title: 'More than one login',
    means: 'A policy can have only one login action: oauth, openid-connect or saml.',
    bad: request(`      - type: oauth
        config: { provider: google }
      - type: oauth
        config: { provider: github }
`),
    good: action('oauth { provider: google }'),
  },
  {
    number: 2257,
    title: 'Invalid user name',
    means: 'The user name of a credential must not be empty or contain control characters (RFC 7617).',
    bad: action(`basic-auth { credentials: [':correct horse'] }`),
    good: action(`basic-auth { credentials: ["ann:\${secrets.get('team', 'ann')}"] }`),
  },
  {
    number: 2258,
    title: 'Invalid password',
    means: 'The password of a credential must not contain control characters (RFC 7617).',
    bad: action(`basic-auth { credentials: ["ann:correct\\thorse"] }`),
    good: action(`basic-auth { credentials: ["ann:\${secrets.get('team', 'ann')}"] }`),
  },
];
