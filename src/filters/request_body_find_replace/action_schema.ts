import * as z from 'zod';
import { bodyReplacements } from '../action_fields_schema.ts';

export const requestBodyFindReplace = z
  .strictObject({
    replacements: bodyReplacements(),
  })
  .describe('Replaces text in the request body.');

export type RequestBodyFindReplaceConfig = z.output<typeof requestBodyFindReplace>;
