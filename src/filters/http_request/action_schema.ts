import * as z from 'zod';
import {
  duration,
  expression,
  headerMap,
  neededTemplate,
  onError,
  template,
} from '../action_fields_schema.ts';

const QUERY_COUNT_LIMIT = 32;
const QUERY_KEY_LIMIT = 128;
const QUERY_VALUE_LIMIT = 8192;

const queryParameter = z
  .strictObject({
    key: z
      .string()
      .min(1)
      .max(QUERY_KEY_LIMIT)
      .meta({ description: 'Name of the parameter.', template: true, codes: { too_long: 2245 } }),
    value: z
      .string()
      .max(QUERY_VALUE_LIMIT)
      .meta({ description: 'Value of the parameter.', template: true, codes: { too_long: 2246 } }),
  })
  .describe('One query parameter.');

export const httpRequest = z
  .strictObject({
    url: neededTemplate('URL of the request.', { kind: 'url' }),
    method: z
      .enum(['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'])
      .default('GET')
      .describe('Method of the request.'),
    query_params: z
      .array(queryParameter)
      .max(QUERY_COUNT_LIMIT)
      .default([])
      .meta({ description: 'Query parameters to add, at most 32.', codes: { too_many: 2244 } }),
    headers: headerMap('Headers of the request, at most 10.', 0).default({}),
    body: template('Body of the request.').optional(),
    max_redirects: z.int().min(0).max(5).default(0).describe('Redirects to follow, 0 to 5.'),
    timeout: duration('Total time for all attempts and redirects, 1s to 30s.', {
      least: '1s',
      most: '30s',
    }).default('3s'),
    retry_condition: expression('Whether to retry after a failed attempt; at most 3 retries.', {
      condition: true,
      scope: 'retry',
    }).default('false'),
    on_error: onError('continue'),
  })
  .describe('Sends a request and stores the response for later actions.');

export type HttpRequestConfig = z.output<typeof httpRequest>;
