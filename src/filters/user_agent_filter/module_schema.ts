import * as z from 'zod';
import { enabled, textList } from '../module_fields_schema.ts';

export const userAgentFilter = z
  .strictObject({
    enabled,
    allow: textList('Regular expressions (RE2) of allowed user agents; they take precedence over deny.'),
    deny: textList('Regular expressions (RE2) of blocked user agents.'),
  })
  .describe('Allows or blocks requests by the User-Agent header.');

export type UserAgentFilterConfig = z.output<typeof userAgentFilter>;
