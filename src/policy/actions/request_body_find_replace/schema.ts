import * as z from 'zod';
import { pattern, template } from '../schema.ts';

export const requestBodyFindReplace = z
  .strictObject({
    replacements: z
      .array(
        z
          .strictObject({
            from: pattern('Pattern of what is replaced, everywhere in the body.'),
            to: template('What stands in its place; $1 is the first group.').default(''),
          })
          .describe('One replacement.'),
      )
      .min(1)
      .describe('Replacements, made in order.'),
  })
  .describe('Replaces texts in the body of the request.');

export type RequestBodyFindReplaceConfig = z.output<typeof requestBodyFindReplace>;
