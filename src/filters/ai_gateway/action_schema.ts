import * as z from 'zod';
import { duration, neededTemplate, onError, template } from '../action_fields_schema.ts';

const TOKENS_LIMIT = 500_000;

const tokens = (description: string) => z.int().min(1).max(TOKENS_LIMIT).optional().describe(description);
const text = (description: string) => z.string().optional().describe(description);
const texts = (description: string) => z.array(z.string().min(1)).default([]).describe(description);
const flag = (description: string) => z.boolean().default(false).describe(description);
const data = (description: string) =>
  z.record(z.string(), z.unknown()).optional().meta({ description, kind: 'data' });

const parameters = (description: string) =>
  z
    .array(
      z
        .strictObject({ name: z.string().min(1).describe('Name of the parameter.') })
        .describe('One parameter.'),
    )
    .default([])
    .describe(description);

/** Strategies have variables of their own, such as `ai.models`: only their syntax is checked. */
const selection = (what: string) =>
  z
    .strictObject({
      strategy: z
        .array(z.string().min(1).meta({ kind: 'expression', scope: 'strategy' }))
        .default([])
        .describe(`Expressions that select ${what}; the first with a result counts.`),
    })
    .optional()
    .describe(`How ${what} are selected.`);

const model = z
  .strictObject({
    id: z.string().min(1).describe('Name of the model at its provider.'),
    id_aliases: texts('Other names of the model.'),
    author_id: text('Author of the model.'),
    display_name: text('Name for people.'),
    description: text('Description.'),
    disabled: flag('Whether the model is not used.'),
    metadata: data('Metadata for strategies.'),
    input_modalities: texts('Kinds of input: text, image and so on.'),
    output_modalities: texts('Kinds of output.'),
    max_context_window: z.int().min(1).optional().describe('Size of the context, in tokens.'),
    max_output_tokens: z.int().min(1).optional().describe('Maximum length of the output, in tokens.'),
    supported_features: texts('Features such as tool-calling.'),
    unsupported_params: parameters('Members of the request body that are removed for this model.'),
  })
  .describe('One model.');

const apiSurface = z
  .strictObject({
    format: z.enum(['openai', 'anthropic']).describe('Format of the API.'),
    surface: text('Endpoint of the API, such as chat-completions.'),
    supported_params: parameters('Members of the request body that are kept; needs surface.'),
  })
  .describe('One API.');

const provider = z
  .strictObject({
    id: z.string().min(1).describe('Name of a known provider, or of one with a base_url.'),
    id_aliases: texts('Other names of the provider.'),
    base_url: neededTemplate('URL of a provider of your own.', { kind: 'url' }).optional(),
    display_name: text('Name for people.'),
    description: text('Description.'),
    website: text('Web site.'),
    disabled: flag('Whether the provider is not used.'),
    metadata: data('Metadata for strategies.'),
    api_keys: z
      .array(
        z
          .strictObject({
            value: z.string().min(1).meta({ description: 'The key.', template: true, secret: true }),
          })
          .describe('One key.'),
      )
      .default([])
      .describe('Keys, tried in order; for providers with a base_url only.'),
    models: z.array(model).default([]).describe('Models of the provider.'),
    supported_api_surfaces: z.array(apiSurface).default([]).describe('APIs of the provider.'),
  })
  .describe('One provider.');

export const aiGateway = z
  .strictObject({
    max_input_tokens: tokens('Maximum length of a prompt, in tokens; at most 500,000.'),
    max_output_tokens: tokens('Maximum length of an answer, in tokens; at most 500,000.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .meta({ description: 'Headers to add to requests.', kind: 'header_map', template: true }),
    query_params: z
      .record(z.string(), template('Value of the parameter.'))
      .default({})
      .describe('Query parameters to add to requests.'),
    body: data('Members to merge into the body of requests.'),
    on_error: onError('halt'),
    total_timeout: duration('Time for all attempts together.').default('5m'),
    per_request_timeout: duration('Time for one request to a provider.').default('30s'),
    providers: z.array(provider).default([]).describe('Providers; all known ones if empty.'),
    only_allow_configured_providers: flag('Whether other providers are refused.'),
    only_allow_configured_models: flag('Whether other models are refused.'),
    model_selection: selection('models'),
    api_key_selection: selection('keys'),
  })
  .describe('Routes requests to language models. Checked, but not simulated.');

export type AiGatewayConfig = z.output<typeof aiGateway>;
