import * as z from 'zod';
import { enabled, textList } from '../module_fields_schema.ts';

export const requestHeaders = z
  .strictObject({
    enabled,
    add: z
      .record(z.string(), z.string())
      .default({})
      .describe('Header names and values added to the request before it reaches the upstream.'),
    remove: textList('Names of headers removed from the request before it reaches the upstream.'),
  })
  .describe('Edits the headers of requests.');

export type RequestHeadersConfig = z.output<typeof requestHeaders>;
