import * as z from 'zod';
import { headerMap, neededTemplate, pattern } from '../action_fields_schema.ts';

export const redirect = z
  .strictObject({
    from: pattern('Pattern to find in the whole URL; default: the whole URL is replaced.').optional(),
    to: neededTemplate('Replacement; $1 is the first group.'),
    status_code: z
      .union([z.literal(301), z.literal(302), z.literal(303), z.literal(307), z.literal(308)])
      .default(302)
      .meta({ description: 'Status of the redirect.', choices: [301, 302, 303, 307, 308] }),
    headers: headerMap('Headers of the response, at most 10.', 0).default({}),
  })
  .describe('Redirects to another URL, if the URL changes.');

export type RedirectConfig = z.output<typeof redirect>;
