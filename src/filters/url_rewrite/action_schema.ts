import * as z from 'zod';
import { neededTemplate, pattern } from '../action_fields_schema.ts';

export const urlRewrite = z
  .strictObject({
    from: pattern('Pattern to find in the whole URL; default: the whole URL is replaced.').optional(),
    to: neededTemplate('Replacement for each match; $1 is the first group.'),
  })
  .describe('Changes the URL that the upstream sees.');

export type UrlRewriteConfig = z.output<typeof urlRewrite>;
