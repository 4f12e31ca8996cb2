import * as z from 'zod';
import { neededTemplate, pattern } from '../schema.ts';

export const urlRewrite = z
  .strictObject({
    from: pattern('Pattern to find in the whole URL; the whole URL is replaced when left out.').optional(),
    to: neededTemplate('What stands in place of each match; $1 is the first group.'),
  })
  .describe('Changes the URL that the upstream sees.');

export type UrlRewriteConfig = z.output<typeof urlRewrite>;
