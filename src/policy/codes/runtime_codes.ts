import type { RuntimeCode } from './code.ts';

// table: codes of running policies
export const RUNTIME_CODES: readonly RuntimeCode[] = [
  {
    number: 2238,
    title: 'Template failed',
    means:
      'An expression between `${` and `}` gave an error on this request. Reading a header or a result that is not there is the usual cause.',
  },
  { number: 2249, title: 'Memory limit', means: 'An action would have made a text larger than it may be.' },
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
  { number: 3401, title: 'No valid credentials', means: 'The request carries no token that is let in.' },
  { number: 3403, title: 'Forbidden', means: 'The token is genuine but not for this.' },
  { number: 3406, title: 'Token missing', means: 'A token that the policy asks for is not in the request.' },
  {
    number: 3408,
    title: 'Header of the token missing',
    means: 'The header that should carry a token is not in the request.',
  },
  {
    number: 3411,
    title: 'Body is no JSON',
    means: 'A token was to be read from a JSON body, which does not parse.',
  },
  {
    number: 3412,
    title: 'Body is no form',
    means: 'A token was to be read from a form, which does not parse.',
  },
  {
    number: 3413,
    title: 'Prefix missing',
    means: 'The text before a token is not the one that the policy names.',
  },
  {
    number: 3414,
    title: 'No content type',
    means: 'A token was to be read from a body whose type is not known.',
  },
  {
    number: 3415,
    title: 'Method without body',
    means: 'Tokens in bodies are read for POST, PUT and PATCH only.',
  },
  { number: 3416, title: 'Token malformed', means: 'A token is not a JSON Web Token.' },
  {
    number: 3422,
    title: 'Keys not fetched',
    means: 'The key set that verifies a token could not be fetched.',
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
    number: 3700,
    title: 'Request blocked by rules',
    means: 'The core rule set found the request dangerous.',
  },
  { number: 3701, title: 'Rules failed', means: 'The core rule set could not read a body.' },
  {
    number: 3702,
    title: 'Response blocked by rules',
    means: 'The core rule set found the response dangerous.',
  },
  {
    number: 3900,
    title: 'Template of a replacement failed',
    means: 'An expression in a replacement of a body gave an error.',
  },
  {
    number: 3901,
    title: 'Pattern of a replacement invalid',
    means: 'What an expression made of the pattern is not a pattern.',
  },
  { number: 3902, title: 'Body not buffered', means: 'Buffering the body could not begin.' },
  { number: 3903, title: 'Body not read', means: 'The body could not be read to its end.' },
  { number: 3904, title: 'Body not changed', means: 'The body could not be changed.' },
  { number: 3905, title: 'Length not changed', means: 'The length of the changed body could not be set.' },
];

// table: codes that the service documents and that have no place on an edge of ours
export const OTHER_CODES: readonly RuntimeCode[] = [
  {
    number: 2213,
    title: 'Template of a header',
    means: 'Older services give it for a template in add-headers that does not compile; today it is 2224.',
  },
  {
    number: 2227,
    title: 'No OpenID discovery',
    means:
      'The service asks the issuer for its discovery document while it checks a policy. This checker asks nobody.',
  },
  {
    number: 2229,
    title: 'Unknown protocol',
    means: 'The endpoint has a protocol that the service does not know.',
  },
  {
    number: 2235,
    title: 'Policy without an end',
    means: 'Endpoints in the cloud need an action that ends every path. Edges have a backend for that.',
  },
  { number: 2243, title: 'Not a domain', means: 'A domain for cookies is not a domain name.' },
  {
    number: 2256,
    title: 'Action not in the plan',
    means: 'The plan of the account does not include the action.',
  },
  {
    number: 2262,
    title: 'Internal endpoints have no on_tcp_connect',
    means: 'Internal HTTP endpoints have no rules of connections.',
  },
  {
    number: 2263,
    title: 'Policy not in the plan',
    means: 'The plan of the account does not include a feature of the policy.',
  },
  {
    number: 2264,
    title: 'Too many rules for the plan',
    means: 'The plan of the account limits the rules of a policy.',
  },
  {
    number: 2265,
    title: 'Too much in a rule for the plan',
    means: 'The plan of the account limits expressions and actions of a rule.',
  },
];
