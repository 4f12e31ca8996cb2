import * as z from 'zod';
import { enabled, textList } from '../module_fields_schema.ts';

export const responseHeaders = z
  .strictObject({
    enabled,
    add: z
      .record(z.string(), z.string())
      .default({})
      .describe('Header names and values added to the response before it reaches the client.'),
    remove: textList('Names of headers removed from the response before it reaches the client.'),
  })
  .describe('Edits the headers of responses.');

export type ResponseHeadersConfig = z.output<typeof responseHeaders>;
