import * as z from 'zod';
import { pattern, template } from '../action_fields_schema.ts';

export const sseFindReplace = z
  .strictObject({
    replacements: z
      .array(
        z
          .strictObject({
            field: z
              .string()
              .regex(/^(?:data|retry|[\s\S]*\$\{[\s\S]*)$/)
              .default('data')
              .meta({
                description: 'Field of the message: data or retry.',
                form: 'data or retry',
                template: true,
                codes: { form: 2222 },
              }),
            from: pattern('Pattern to replace everywhere in the field.'),
            to: template('Replacement; $1 is the first group.').default(''),
          })
          .describe('One replacement.'),
      )
      .min(1)
      .describe('Replacements, applied in order.'),
  })
  .describe('Replaces text in messages of an event stream.');

export type SseFindReplaceConfig = z.output<typeof sseFindReplace>;
