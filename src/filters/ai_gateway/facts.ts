import { INT, STRING, type Type, headerMap, list } from '../../cel/types.ts';
import { type Filter, NOT_RUN_MESSAGES } from '../facts.ts';
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
