import { BOOL, DYN, STRING, list, map } from '../../cel/types.ts';
import { error, record, resultOf } from '../result_types.ts';
import { asciiLower } from '../../http/ascii.ts';
import { KEYS_KEPT_MS } from './algorithm.ts';
import { checkAction } from './check.ts';
import type { Filter } from '../facts.ts';
import { plainHttpWarning } from '../field_checks.ts';
import type { Input } from '../fact_values.ts';
import type { JwtValidationConfig } from './action_schema.ts';

export const messages = {
  valid: 'all tokens of the request are valid',
  missing: 'the request lacks a token',
  no_header: 'the request lacks the header of a token',
  no_prefix: 'a value lacks the prefix of a token',
  method: 'a request of this method has no token in its body',
  content_type: 'the body is neither JSON nor a form, so it has no token',
  bad_json: 'the body with a token is not a JSON object, or has a name twice',
  bad_form: 'the form with a token is not encoded correctly',
  malformed: 'a token is malformed',
  no_key: 'no key matches a token',
  signature: 'the signature of a token is wrong',
  algorithm: 'the algorithm of a token is not allowed',
  type: 'a token has another type',
  issuer: 'the issuer of a token is not allowed',
  audience: 'a token is for another audience',
  expired: 'a token has expired',
  not_yet_valid: 'a token is not valid yet',
} as const;

export const numbers = {
  invalid: {
    number: 3401,
    title: 'Token not valid',
    means:
      'The request has a token, but not a valid one: its signature, key, algorithm, type, issuer or time is wrong. The reason is in the trace, not in the response.',
  },
  audience: {
    number: 3403,
    title: 'Token for another audience',
    means: 'The token is valid, but the policy does not allow its audience.',
  },
  missing: {
    number: 3406,
    title: 'No token',
    means: 'A header or a field of the body has no token, or more than one value.',
  },
  no_header: {
    number: 3408,
    title: 'No header with a token',
    means: 'The request lacks the header of a token.',
  },
  bad_json: {
    number: 3411,
    title: 'JSON not read',
    means: 'The body with a token is not a JSON object, or has a name twice.',
  },
  bad_form: {
    number: 3412,
    title: 'Form not read',
    means: 'The form with a token is not encoded correctly.',
  },
  no_prefix: {
    number: 3413,
    title: 'No prefix',
    means: 'The value with a token does not begin with the prefix of the policy, such as `Bearer `.',
  },
  content_type: {
    number: 3414,
    title: 'Content type without tokens',
    means: 'A token in the body needs the content type of JSON or of a form.',
  },
  method: {
    number: 3415,
    title: 'Method without tokens',
    means: 'Only POST, PUT and PATCH can have a token in their body.',
  },
  malformed: {
    number: 3416,
    title: 'Token malformed',
    means: 'A token is not a signed JSON Web Token (RFC 7519).',
  },
  keys: {
    number: 3422,
    title: 'Keys not fetched',
    means: 'A key set of the policy could not be fetched, and no other has the key: the request is stopped.',
  },
} as const;

const TOKEN = record('Token', {
  header: [map(STRING, DYN), 'Header of the token, decoded.'],
  location: [STRING, 'Place of the token: `header` or `body`.'],
  location_property: [STRING, 'Name of the field with the token.'],
  payload: [map(STRING, DYN), 'Claims, decoded.'],
  signature: [STRING, 'Signature as written.'],
  verified: [BOOL, 'Whether the signature and the claims are valid.'],
});

type Token = JwtValidationConfig['http']['tokens'][number];

/** Inputs of a token's check; a name with an expression may be that of any header. */
function inputsOf({ method, name }: Token): readonly Input[] {
  const place: Input =
    method === 'body' ? 'body' : name.includes('${') ? 'headers' : { header: asciiLower(name.trim()) };
  return [place, 'clock', 'outside', 'state'];
}

export const jwtValidation = {
  numbers,
  action: {
    type: 'jwt-validation',
    phases: ['on_http_request'],
    ends: { when: 'may', how: ['denied'] },
    result: resultOf('jwt_validation', 'The tokens of the request.', {
      tokens: [list(TOKEN), 'Tokens in the order of the configuration.'],
      error,
    }),
    leavesRequest: false,
    guards: true,
    alsoCalled: ['jwt'],
    reads: ({ http }) => http.tokens.flatMap(inputsOf),
    credentials: ({ http }) => http.tokens.map(({ name }) => name).filter((name) => !name.includes('${')),
    remembersMs: () => KEYS_KEPT_MS,
    unseen: ['/http/tokens/*/type'],
    costNs: 60000,
    warnings: {
      'policy.plain_http': plainHttpWarning,
      'policy.no_prefix': {
        message: 'An Authorization header has a scheme before its token.',
        cure: ['`jwt-validation` reading Authorization without `prefix`', "Add `prefix: 'Bearer '`"],
      },
    },
    check: checkAction,
    reasons: messages,
    examples: {
      good: [
        {
          issuer: { allow_list: [{ value: 'https://login.test' }] },
          http: { tokens: [{ type: 'jwt', method: 'header', name: 'authorization', prefix: 'Bearer ' }] },
          jws: {
            allowed_algorithms: ['ES256'],
            keys: { sources: { additional_jkus: ['https://login.test/keys'] } },
          },
        },
      ],
      bad: [
        {
          config: {
            issuer: { allow_list: [{ value: 'https://login.test' }] },
            http: { tokens: [{ type: 'jwt', method: 'header', name: 'authorization', prefix: 'Bearer ' }] },
            jws: {
              allowed_algorithms: ['none'],
              keys: { sources: { additional_jkus: ['https://login.test/keys'] } },
            },
          },
          finding: 2222,
        },
      ],
    },
  },
} satisfies Filter<never, JwtValidationConfig>;
