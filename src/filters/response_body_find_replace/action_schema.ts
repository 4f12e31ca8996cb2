import * as z from 'zod';
import { pattern, template } from '../action_fields_schema.ts';

export const responseBodyFindReplace = z
  .strictObject({
    replacements: z
      .array(
        z
          .strictObject({
            from: pattern('Pattern to replace everywhere in the body.'),
            to: template('Replacement; $1 is the first group.').default(''),
          })
          .describe('One replacement.'),
      )
      .min(1)
      .describe('Replacements, applied in order.'),
  })
  .describe('Replaces text in the response body.');

export type ResponseBodyFindReplaceConfig = z.output<typeof responseBodyFindReplace>;
