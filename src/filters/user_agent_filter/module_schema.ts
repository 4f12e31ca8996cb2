import * as z from 'zod';
import { enabled, textList } from '../module_fields_schema.ts';

export const userAgentFilter = z
  .strictObject({
    enabled,
    allow: textList('Regular expressions (RE2) of user agents that are let in; they win over deny.'),
    deny: textList('Regular expressions (RE2) of user agents that are blocked.'),
  })
  .describe('Allows or blocks by the User-Agent header.');

export type UserAgentFilterConfig = z.output<typeof userAgentFilter>;
