import * as z from 'zod';
import { bodyReplacements } from '../action_fields_schema.ts';

export const responseBodyFindReplace = z
  .strictObject({
    replacements: bodyReplacements(),
  })
  .describe('Replaces text in the response body.');

export type ResponseBodyFindReplaceConfig = z.output<typeof responseBodyFindReplace>;
