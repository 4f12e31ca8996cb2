import { INT, STRING, type Type, headerMap, list } from '../../cel/types.ts';
import { type Filter, NOT_RUN_MESSAGES, notRunNumbers } from '../facts.ts';
import { checkAction } from './check.ts';
import { error, record } from '../result_types.ts';
import type { AiGatewayConfig } from './action_schema.ts';

const TEXTS = list(STRING);

const CLIENT = record('AiClient', {
  method: [STRING, 'Method of the request.'],
  path: [STRING, 'Path of the request.'],
  request_headers: [headerMap(), 'Headers of the request, without credentials.'],
  user_agent: [STRING, 'User agent of the client.'],
  model: [STRING, 'The model that the client asked for.'],
  models: [TEXTS, 'The models that the client asked for.'],
  api_key_hash: [STRING, 'The shortened key of the client.'],
  rejected_models: [
    list(
      record('AiRejectedModel', {
        model: [STRING, 'A model that the client asked for.'],
        reason: [STRING, 'Why it is not used.'],
      }),
    ),
    'Models that were excluded.',
  ],
});

const MODEL_SELECTION = record('AiModelSelection', {
  strategy: [STRING, 'The strategy.'],
  error: [STRING, 'Why it failed.', 'optional'],
  candidates_returned: [TEXTS, 'Models that it gave.'],
  candidates_after_allowed_filter: [TEXTS, 'Those of them that are allowed.'],
  candidates_after_client_filter: [TEXTS, 'Those of them that the client asked for.'],
  models_to_try: [TEXTS, 'Models to try.'],
});

const KEY_SELECTION = record('AiKeySelection', {
  strategy: [STRING, 'The strategy.'],
  error: [STRING, 'Why it failed.', 'optional'],
  keys_to_try: [TEXTS, 'Shortened keys to try.'],
});

const REQUEST_MADE = record('AiRequestMade', {
  status: [STRING, '`success` or `error`.'],
  error: [STRING, 'Why the request failed.', 'optional'],
  upstream_input_tokens: [INT, 'Tokens of the prompt, as the provider counts.'],
  upstream_output_tokens: [INT, 'Tokens of the answer, as the provider counts.'],
  request: [
    record('AiRequest', { url: [STRING, 'URL.'], api_key: [STRING, 'Shortened key.'] }),
    'The request.',
  ],
  response: [
    record('AiResponse', {
      status_code: [INT, 'Status.'],
      headers: [headerMap(), 'Headers.'],
      body_on_error: [STRING, 'The first 1 KB of an error.', 'optional'],
    }),
    'Its response.',
    'optional',
  ],
  upstream_latency: [
    record('AiLatency', {
      time_to_first_byte_ms: [INT, 'Milliseconds until the first byte.'],
      total_ms: [INT, 'Milliseconds until the end.'],
    }),
    'Latency of the provider.',
  ],
});

const MODEL_TRIED = record('AiModelTried', {
  model: [STRING, 'Model.'],
  provider: [STRING, 'Provider.'],
  author: [STRING, 'Author; may be empty.'],
  api_key_selection: [list(KEY_SELECTION), 'How its key was selected.'],
  requests_made: [list(REQUEST_MADE), 'Its requests.'],
});

const SUCCESS = record('AiSuccess', {
  model_index: [INT, 'Index in models_tried.'],
  request_index: [INT, 'Index in its requests_made.'],
  model: [STRING, 'Model.'],
  provider: [STRING, 'Provider.'],
  author: [STRING, 'Author; may be empty.'],
});

function resultType(service: string): Type {
  return record('AiGatewayResult', {
    status: [STRING, '`success` or `error`.'],
    error,
    client: [CLIENT, 'The request of the client.'],
    [`input_${service}_tokens`]: [INT, 'Tokens of the prompt, as the service counts.'],
    [`output_${service}_tokens`]: [INT, 'Tokens of the answer, as the service counts.'],
    gateway_latency_ms: [INT, 'Milliseconds that the gateway took.'],
    model_selection: [list(MODEL_SELECTION), 'How models were selected.'],
    models_tried: [list(MODEL_TRIED), 'Models that were tried, in order.'],
    success: [SUCCESS, 'The model that answered.', 'optional'],
  });
}

export const aiGateway = {
  serviceNumbers: notRunNumbers([
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
  ]),
  action: {
    type: 'ai-gateway',
    phases: ['on_http_request'],
    ends: { when: 'may', how: ['not_run'] },
    result: {
      name: 'ai_gateway',
      row: { doc: 'What the gateway did.', type: resultType },
    },
    leavesRequest: false,
    runs: 'never',
    single: 2266,
    reads: [],
    costNs: 80,
    warnings: {
      'policy.provider_keys': {
        message:
          'Keys of a known provider: some pages of the service still show them in policies, and it refuses them today.',
        cure: ['A key of a model provider inside `ai-gateway`', 'Keep it at the provider, or in a secret'],
      },
    },
    check: checkAction,
    reasons: NOT_RUN_MESSAGES,
    secrets: ['/providers/*/api_keys/*/value'],
    examples: {
      good: [
        {},
        {
          max_input_tokens: 4096,
          headers: { 'x-team': '${req.host}' },
          providers: [
            { id: 'openai', models: [{ id: 'gpt-4o', metadata: { tier: 'premium' } }] },
            {
              id: 'local',
              base_url: 'https://models.test/v1',
              api_keys: [{ value: "${secrets.get('models', 'key')}" }],
            },
          ],
          model_selection: { strategy: ["ai.models.filter(m, m.provider_id == 'openai')", 'ai.models'] },
        },
      ],
      bad: [
        { config: { providers: [{ base_url: 'https://models.test/v1' }] }, finding: 2234 },
        { config: { model_selection: { strategy: ['ai.models.filter('] } }, finding: 2200 },
        { config: { total_timeout: 'soon' }, finding: 2228 },
      ],
    },
  },
} satisfies Filter<never, AiGatewayConfig>;
