import { describePlace } from './places.ts';
import { PROOFS } from './proofs.ts';
import type { Challenge, Provider, Scheme } from './provider.ts';
import { PROVIDERS } from './table.ts';

/** Generates `docs/reference/webhooks.md` from the table of providers. */
export function webhookDocument(): string {
  const unproven = PROVIDERS.filter(({ id }) => PROOFS[id] === undefined);
  return [
    '# Webhook providers',
    '',
    'Generated from `src/webhooks/providers/`; do not edit.',
    '',
    'Provider ids are case-insensitive. Signatures are verified over the received bytes of the body.',
    'A timestamp may differ from now by at most its window. If there are several signatures, one valid signature is enough.',
    'A relevant header that occurs twice is refused.',
    'Certainty says how sure it is that the provider signs in this way: try one with medium certainty with a real webhook before you rely on it.',
    '',
    '| id | certainty | signature | what is signed | how | window | proof | source |',
    '|---|---|---|---|---|---|---|---|',
    ...PROVIDERS.flatMap((provider) =>
      provider.schemes.map((scheme, at) => rowOf(provider, scheme, at === 0)),
    ),
    '',
    '## Secrets',
    '',
    ...SECRET_LINES,
    '',
    '## Challenges that the edge answers itself',
    '',
    ...PROVIDERS.filter(({ challenge }) => challenge !== undefined).map(
      ({ id, challenge }) => `- \`${id}\`: ${CHALLENGE_LINES[challenge!]}`,
    ),
    '',
    '## Notes',
    '',
    ...PROVIDERS.filter(({ note }) => note !== undefined).map(({ id, note }) => `- \`${id}\`: ${note}`),
    '',
    '## Names',
    '',
    ...PROVIDERS.map(({ id, title, addition }) => {
      const ours = addition === true ? ', an addition of this project' : '';
      return `- \`${id}\`: ${title}${ours}`;
    }),
    '',
    '## Proof',
    '',
    'Each row is a test: requests signed by the library or the provider are accepted here, requests signed here are accepted',
    'by the library, and altered requests are refused.',
    '',
    ...Object.entries(PROOFS).flatMap(([id, proofs]) =>
      proofs.map(({ kind, by }) => `- \`${id}\`: ${PROOF_WORDS[kind]} ${by}`),
    ),
    '',
    'These rows are not proved by a library or a published request. Each is tested with a signature that the test',
    'computes independently, according to the source of the row:',
    `${listed(unproven)}.`,
    '',
    'No public documentation describes how these providers sign; the source says what the row is based on:',
    `${listed(PROVIDERS.filter((each) => each.unverified === true))}.`,
    '',
  ].join('\n');
}

function listed(providers: readonly Provider[]): string {
  return providers.map(({ id }) => `\`${id}\``).join(', ');
}

const PROOF_WORDS = {
  library: 'the provider’s library',
  'other library': 'another library for the same scheme,',
  vector: 'a published request:',
} as const;

const SECRET_LINES = [
  '- text, unless stated otherwise; `sns` has no secret, every other provider requires one',
  '- `svix`, `clerk`, `brex`, `standard_webhooks`: base64, optionally with the prefix `whsec_`',
  '- `standard_webhooks` with `whpk_`: the base64 of an Ed25519 public key',
  '- `clearbit`: the API key; a prefix `sk_` is not part of the signing key',
  '- `microsoft_teams`: base64',
  '- `sendgrid`: the public verification key, base64 or PEM',
  '- `vmware`: `user::password`',
  ...PROVIDERS.filter(({ secretLength }) => secretLength !== undefined).map(
    ({ id, secretLength }) => `- \`${id}\`: ${secretLength} characters`,
  ),
];

const CHALLENGE_LINES: Readonly<Record<Challenge, string>> = {
  twitter_crc: 'a GET with `crc_token` is answered with its HMAC as `response_token`',
  worldline_echo: 'a GET with `X-GCS-Webhooks-Endpoint-Verification` is answered with that value',
  dropbox_echo: 'a GET with `challenge` is answered with that value',
  xero_intent: 'an empty list of events is answered with 200 if its signature is valid, otherwise with 401',
  zoom_validation: 'a validly signed `endpoint.url_validation` is answered with the token and its HMAC',
};

function rowOf(provider: Provider, scheme: Scheme, isFirst: boolean): string {
  const cells = [
    isFirst ? `\`${provider.id}\`` : '',
    isFirst ? provider.certainty : '',
    placesText(scheme),
    `\`${scheme.signs}\``,
    howText(scheme),
    scheme.timestamp === undefined ? '–' : `${scheme.timestamp.windowSeconds} s`,
    isFirst ? proofText(provider) : '',
    isFirst ? sourceText(provider) : '',
  ];
  return `| ${cells.join(' | ')} |`;
}

function sourceText({ source, unverified }: Provider): string {
  return unverified === true ? `not verified: ${source}` : source;
}

function placesText(scheme: Scheme): string {
  const [first, second] = scheme.signature;
  const more = scheme.signature.length > 2 ? ` to ${describePlace(scheme.signature.at(-1)!)}` : '';
  const also = scheme.signature.length === 2 ? ` or ${describePlace(second!)}` : more;
  return `\`${describePlace(first!)}${also}\``;
}

function howText(scheme: Scheme): string {
  if (scheme.algorithm === 'token') return scheme.key === 'text' ? 'the secret itself' : 'user and password';
  const when = scheme.when === undefined ? '' : `, if ${scheme.when.at.header} is ${scheme.when.is}`;
  const meant = scheme.secretPrefix === undefined ? '' : `, if the secret begins with ${scheme.secretPrefix}`;
  const key = scheme.key === 'after_prefix' ? '; the rest is the key' : '';
  return `${ALGORITHM_NAMES[scheme.algorithm]}, ${scheme.encoding}${when}${meant}${key}`;
}

const ALGORITHM_NAMES: Readonly<Record<Exclude<Scheme['algorithm'], 'token'>, string>> = {
  hmac_sha1: 'HMAC SHA-1',
  hmac_sha256: 'HMAC SHA-256',
  hmac_sha512: 'HMAC SHA-512',
  sha256: 'SHA-256',
  ecdsa_p256_sha256: 'ECDSA P-256',
  ed25519: 'Ed25519',
  rsa_certificate: 'RSA by certificate (SHA-1 or SHA-256)',
};

function proofText({ id }: Provider): string {
  const kinds = new Set((PROOFS[id] ?? []).map(({ kind }) => kind));
  return kinds.size === 0 ? 'none' : [...kinds].join(', ');
}
