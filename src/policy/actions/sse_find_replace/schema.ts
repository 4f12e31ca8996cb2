import * as z from 'zod';
import { pattern, template } from '../schema.ts';

export const sseFindReplace = z
  .strictObject({
    replacements: z
      .array(
        z
          .strictObject({
            field: z.enum(['data', 'retry']).default('data').describe('Field of the message.'),
            from: pattern('Pattern of what is replaced, everywhere in the field.'),
            to: template('What stands in its place; $1 is the first group.').default(''),
          })
          .describe('One replacement.'),
      )
      .min(1)
      .describe('Replacements, made in order.'),
  })
  .describe('Replaces texts in messages of an event stream.');

export type SseFindReplaceConfig = z.output<typeof sseFindReplace>;
