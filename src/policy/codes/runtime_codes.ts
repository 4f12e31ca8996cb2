import type { RuntimeCode } from './code.ts';

// table: codes of running policies
export const RUNTIME_CODES: readonly RuntimeCode[] = [
  {
    number: 2238,
    title: 'Template failed',
    means:
      'An expression between `${` and `}` gave an error on this request. Reading a header or a result that is not there is the usual cause.',
  },
  {
    number: 2249,
    title: 'Memory limit',
    means:
      'An expression took more than one evaluation may: too many steps, or values that are too large. The request is stopped.',
  },
  {
    number: 2253,
    title: 'Field expression failed',
    means: 'An expression in a field, such as a bucket_key, gave an error on this request.',
  },
  {
    number: 2254,
    title: 'Condition failed',
    means:
      'A condition of a rule gave an error on this request. The request is stopped: a rule that cannot be decided is not passed over.',
  },
  { number: 2300, title: 'Action failed', means: 'An action met an error that is none of its results.' },
  {
    number: 3202,
    title: 'Circuit open',
    means: 'A circuit breaker holds requests back from an upstream that keeps failing.',
  },
  {
    number: 3203,
    title: 'Address refused',
    means: 'No range allows the address of the client, or one denies it.',
  },
  {
    number: 3204,
    title: 'Webhook not verified',
    means: 'The signature of a webhook is missing, wrong or too old.',
  },
  { number: 3401, title: 'Token missing', means: 'A token that the policy asks for is not in the request.' },
  {
    number: 3403,
    title: 'Token for somebody else',
    means: 'The token is genuine, but its audience is not one that the policy lets in.',
  },
  { number: 3406, title: 'Token malformed', means: 'A token is not a JSON Web Token (RFC 7519).' },
  {
    number: 3408,
    title: 'No key for the token',
    means: 'None of the key sets that the policy names has a key that fits the token.',
  },
  { number: 3412, title: 'Signature wrong', means: 'The signature of a token does not fit its content.' },
  {
    number: 3413,
    title: 'Algorithm not allowed',
    means: 'A token is signed with an algorithm that the policy does not list.',
  },
  {
    number: 3414,
    title: 'Token of another type',
    means: '`typ` of a token is not what the policy asks for (RFC 9068 §2.1).',
  },
  {
    number: 3415,
    title: 'Issuer not allowed',
    means: 'A token comes from an issuer that the policy does not list.',
  },
  { number: 3416, title: 'Token expired', means: 'A token was valid until a time that has passed.' },
  {
    number: 3422,
    title: 'Token not valid yet',
    means: 'A token is valid from a time that is still to come.',
  },
  {
    number: 3501,
    title: 'Too many hops',
    means: 'Internal endpoints forwarded the request to each other too often.',
  },
  {
    number: 3601,
    title: 'Response of http-request too large',
    means: 'The response was larger than an http-request keeps.',
  },
  { number: 3602, title: 'http-request timed out', means: 'No attempt succeeded within the timeout.' },
  { number: 3603, title: 'Loop of http-requests', means: 'Requests of policies led back to themselves.' },
  {
    number: 3604,
    title: 'Body not permitted',
    means: 'A custom response has a body, but its status does not permit one.',
  },
  {
    number: 3900,
    title: 'Template of a replacement failed',
    means:
      'An expression between `${` and `}` in a replacement of a body or of an event stream gave an error.',
  },
  {
    number: 3901,
    title: 'Pattern of a replacement invalid',
    means: 'What an expression made of the pattern is not a pattern of RE2 syntax.',
  },
  {
    number: 3902,
    title: 'Body not buffered',
    means:
      'Reading the body did not begin, because it is encoded: what is looked for could not be seen in it, and the body might not pass unseen.',
  },
  {
    number: 3903,
    title: 'Body not read',
    means: 'The body did not come to its end, or is larger than what is searched: 1 MiB.',
  },
  {
    number: 3904,
    title: 'Body not changed',
    means: 'Replacing would make more than 1 MiB of the body.',
  },
];

// table: codes that the service documents and that are not given here
export const OTHER_CODES: readonly RuntimeCode[] = [
  {
    number: 2213,
    title: 'Template of a header',
    means: 'Older services give it for a template in add-headers that does not compile; today it is 2224.',
  },
  {
    number: 2229,
    title: 'Unknown protocol',
    means: 'The endpoint has a protocol that the service does not know.',
  },
  {
    number: 2247,
    title: 'URL not read again',
    means: 'A URL that was found good could not be read at a later step: a fault of the service itself.',
  },
  {
    number: 2263,
    title: 'Policy not in the plan',
    means: 'The plan of the account does not include a feature of the policy.',
  },
  {
    number: 3700,
    title: 'Request blocked by rules',
    means: 'The core rule set found the request dangerous. That action is checked and not run here.',
  },
  {
    number: 3701,
    title: 'Rules failed',
    means: 'The core rule set could not read a body. That action is checked and not run here.',
  },
  {
    number: 3702,
    title: 'Response blocked by rules',
    means: 'The core rule set found the response dangerous. That action is checked and not run here.',
  },
  {
    number: 3905,
    title: 'Length not changed',
    means:
      'The service gives it when the length of a changed body cannot be set. Here whoever writes the message sets the length, and it cannot fail.',
  },
];

/** Numbers among those of policies of which no meaning is known. */
export const NUMBERS_WITHOUT_MEANING: readonly number[] = [2241, 2242, 2251, 2255, 2259, 2260, 2266, 2267];
