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
  {
    number: 3206,
    title: 'WebSocket expected',
    means: 'A route that converts WebSockets to TCP got a request that opens no WebSocket.',
  },
  {
    number: 3211,
    title: 'User agent refused',
    means: 'The user agent filter of the route does not allow the user agent of the request.',
  },
  {
    number: 3401,
    title: 'Token not valid',
    means:
      'The request has a token, but not a valid one: its signature, key, algorithm, type, issuer or time is wrong. The reason is in the trace, not in the response.',
  },
  {
    number: 3403,
    title: 'Token for another audience',
    means: 'The token is valid, but the policy does not allow its audience.',
  },
  {
    number: 3406,
    title: 'No token',
    means: 'A header or a field of the body has no token, or more than one value.',
  },
  { number: 3408, title: 'No header with a token', means: 'The request lacks the header of a token.' },
  { number: 3411, title: 'JSON not read', means: 'The body with a token is not a JSON object.' },
  { number: 3412, title: 'Form not read', means: 'The form with a token is not encoded correctly.' },
  {
    number: 3413,
    title: 'No prefix',
    means: 'The value with a token does not begin with the prefix of the policy, such as `Bearer `.',
  },
  {
    number: 3414,
    title: 'Content type without tokens',
    means: 'A token in the body needs the content type of JSON or of a form.',
  },
  {
    number: 3415,
    title: 'Method without tokens',
    means: 'Only POST, PUT and PATCH can have a token in their body.',
  },
  { number: 3416, title: 'Token malformed', means: 'A token is not a signed JSON Web Token (RFC 7519).' },
  {
    number: 3422,
    title: 'Keys not fetched',
    means: 'A key set of the policy could not be fetched, and no other has the key: the request is stopped.',
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

// table: codes of the service that policies here do not send
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
    number: 2232,
    title: 'Config not resolved',
    means: 'A config that passed the check could not be resolved, such as a reference in it.',
  },
  {
    number: 2233,
    title: 'Config not compiled',
    means: 'A config that passed the check and was resolved could not be compiled.',
  },
  {
    number: 2247,
    title: 'URL not read again',
    means: 'A URL that passed the check could not be parsed at a later step: a fault of the service.',
  },
  {
    number: 2255,
    title: 'Too many elements',
    means: 'An action has more elements of a kind than the service allows. Here it is 2218.',
  },
  {
    number: 2259,
    title: 'No endpoints',
    means:
      'The account has no endpoint to which the policy could forward. Policies here name endpoints by URL.',
  },
  {
    number: 2260,
    title: 'No endpoint with the labels',
    means: 'No endpoint has the labels to which the policy forwards. Policies here name endpoints by URL.',
  },
  {
    number: 2263,
    title: 'Policy not in the plan',
    means: 'The plan of the account does not include a feature of the policy.',
  },
  {
    number: 3205,
    title: 'Address refused for the account',
    means: 'The IP restriction of the account, not of the policy, refuses the address.',
  },
  ...[
    [3700, 'Request blocked by rules', 'The core rule set found the request dangerous.'],
    [3701, 'Rules failed', 'The core rule set could not read a body.'],
    [3702, 'Response blocked by rules', 'The core rule set found the response dangerous.'],
    [3800, 'Provider not reached', 'The request to a provider of models failed.'],
    [3801, 'Invalid body', 'The body of the request is not one of the API.'],
    [3802, 'No key', 'Neither the request nor the gateway has a key for the provider.'],
    [3803, 'Selection of models failed', 'A strategy failed for this request.'],
    [3804, 'No such model', 'No model matches what the client asked for.'],
    [3805, 'No model selected', 'No strategy gave a model.'],
    [3806, 'Strategy without models', 'A strategy gave something that is not a model or a list of models.'],
    [3807, 'All providers failed', 'Every attempt failed.'],
    [3808, 'Selection of keys failed', 'A strategy for keys failed for this request.'],
    [3809, 'Gateway without HTTP', 'The gateway needs an endpoint of HTTP.'],
    [3810, 'Gateway timed out', 'No attempt succeeded within the total timeout.'],
    [3811, 'Prompt too long', 'The prompt has more tokens than the policy allows.'],
    [3812, 'Too many attempts', 'Too many requests to providers failed.'],
    [3813, 'No model for the API', 'No selected model has the API that the client uses.'],
    [3814, 'Path not supported', 'Keys of the service cannot be used for this path.'],
    [3815, 'Service tier not supported', 'Keys of the service cannot be used for this tier.'],
    [3816, 'Model not supported', 'Keys of the service cannot be used for this model.'],
    [3817, 'Key required', 'The provider needs a key of your own.'],
    [3818, 'No credit', 'The credit of the account is used up.'],
    [3819, 'Provider not set up', 'The provider needs to be set up before its key can be used.'],
  ].map(([number, title, means]) => ({
    number: Number(number),
    title: String(title),
    means: `${String(means)} That action is checked but not executed here.`,
  })),
  {
    number: 3905,
    title: 'Length not changed',
    means:
      'The service uses it if the length of a changed body cannot be set. Here the writer of the message sets the length, which cannot fail.',
  },
  {
    number: 5537,
    title: 'Expression of a login failed',
    means: 'An expression in a login could not be evaluated. Here it is 2238.',
  },
  {
    number: 6029,
    title: 'Policy without an end',
    means: 'Traffic reached the end of the policy of a cloud endpoint. The check finds such policies: 2235.',
  },
  {
    number: 18002,
    title: 'Invalid policy of a cloud endpoint',
    means:
      'The management API refuses an endpoint because its policy has errors; the message has the code of the check.',
  },
];

/** Numbers of the public index whose page is empty. */
export const NUMBERS_WITHOUT_MEANING: readonly number[] = [2251];
