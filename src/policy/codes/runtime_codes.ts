import type { RuntimeCode } from './code.ts';

// table: codes of running policies
export const RUNTIME_CODES: readonly RuntimeCode[] = [
  {
    number: 2238,
    title: 'Template failed',
    means:
      'An expression between `${` and `}` failed for this request. The usual cause is reading an absent header or result.',
  },
  {
    number: 2249,
    title: 'Memory limit',
    means:
      'An expression exceeded the limits of an evaluation: too many steps, or values that are too large. The request is stopped.',
  },
  {
    number: 2253,
    title: 'Field expression failed',
    means: 'An expression in a field, such as a bucket_key, failed for this request.',
  },
  {
    number: 2254,
    title: 'Condition failed',
    means:
      'A condition of a rule failed for this request. The request is stopped: a rule that cannot be decided is not skipped.',
  },
  {
    number: 2300,
    title: 'Action failed',
    means: 'An action failed with an error that has no result of its own.',
  },
  {
    number: 3202,
    title: 'Circuit open',
    means: 'The circuit breaker rejects requests because the upstream keeps failing.',
  },
  {
    number: 3203,
    title: 'Address refused',
    means: 'No range allows the client address, or one denies it.',
  },
  {
    number: 3204,
    title: 'Webhook not verified',
    means: 'The signature of a webhook is missing, wrong or too old.',
  },
  { number: 3401, title: 'Token missing', means: 'A token that the policy requires is missing.' },
  {
    number: 3403,
    title: 'Token for another audience',
    means: 'The token is valid, but the policy does not allow its audience.',
  },
  { number: 3406, title: 'Token malformed', means: 'A token is not a JSON Web Token (RFC 7519).' },
  {
    number: 3408,
    title: 'No key for the token',
    means: "None of the policy's key sets has a key for the token.",
  },
  { number: 3412, title: 'Signature wrong', means: 'The signature of a token does not match its content.' },
  {
    number: 3413,
    title: 'Algorithm not allowed',
    means: 'The policy does not allow the signature algorithm of a token.',
  },
  {
    number: 3414,
    title: 'Token of another type',
    means: 'The `typ` of a token is not the one that the policy requires (RFC 9068 §2.1).',
  },
  {
    number: 3415,
    title: 'Issuer not allowed',
    means: 'The policy does not allow the issuer of a token.',
  },
  { number: 3416, title: 'Token expired', means: 'The expiry of a token has passed.' },
  {
    number: 3422,
    title: 'Token not valid yet',
    means: 'The start of validity of a token has not been reached.',
  },
  {
    number: 3501,
    title: 'Too many hops',
    means: 'The request was forwarded between internal endpoints too often.',
  },
  {
    number: 3601,
    title: 'Response of http-request too large',
    means: 'The response exceeds the size limit of http-request.',
  },
  { number: 3602, title: 'http-request timed out', means: 'No attempt succeeded within the timeout.' },
  { number: 3603, title: 'Loop of http-requests', means: 'Requests of policies form a loop.' },
  {
    number: 3604,
    title: 'Body not permitted',
    means: 'The status of a custom response with a body does not allow one.',
  },
  {
    number: 3900,
    title: 'Template of a replacement failed',
    means: 'An expression between `${` and `}` in a replacement of a body or of an event stream failed.',
  },
  {
    number: 3901,
    title: 'Pattern of a replacement invalid',
    means: 'The evaluated pattern does not have RE2 syntax.',
  },
  {
    number: 3902,
    title: 'Body not buffered',
    means:
      'The body was not read, because it is encoded: its content could not be searched, and it must not pass unsearched.',
  },
  {
    number: 3903,
    title: 'Body not read',
    means: 'The body was incomplete, or larger than the search limit of 1 MiB.',
  },
  {
    number: 3904,
    title: 'Body not changed',
    means: 'The body would exceed 1 MiB after the replacements.',
  },
];

// table: codes of the service that are not used here
export const OTHER_CODES: readonly RuntimeCode[] = [
  {
    number: 2213,
    title: 'Template of a header',
    means: 'Older services use it for an invalid template in add-headers; now it is 2224.',
  },
  {
    number: 2229,
    title: 'Unknown protocol',
    means: 'The service does not know the protocol of the endpoint.',
  },
  {
    number: 2247,
    title: 'URL not read again',
    means: 'A URL that passed the check could not be parsed at a later step: a fault of the service.',
  },
  {
    number: 2263,
    title: 'Policy not in the plan',
    means: 'The plan of the account does not include a feature of the policy.',
  },
  {
    number: 3700,
    title: 'Request blocked by rules',
    means: 'The core rule set found the request dangerous. That action is checked but not executed here.',
  },
  {
    number: 3701,
    title: 'Rules failed',
    means: 'The core rule set could not read a body. That action is checked but not executed here.',
  },
  {
    number: 3702,
    title: 'Response blocked by rules',
    means: 'The core rule set found the response dangerous. That action is checked but not executed here.',
  },
  {
    number: 3905,
    title: 'Length not changed',
    means:
      'The service uses it if the length of a changed body cannot be set. Here the writer of the message sets the length, which cannot fail.',
  },
];

/** Numbers in the range of policies whose meaning is not known. */
export const NUMBERS_WITHOUT_MEANING: readonly number[] = [2241, 2242, 2251, 2255, 2259, 2260, 2266, 2267];
