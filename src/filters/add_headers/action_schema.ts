import * as z from 'zod';
import { headerMap } from '../action_fields_schema.ts';

export const addHeaders = z
  .strictObject({
    headers: headerMap('Headers to add, 1 to 10, by name. Host is replaced, all others are appended.', 1),
  })
  .describe('Adds headers to the request or to the response.');

export type AddHeadersConfig = z.output<typeof addHeaders>;
