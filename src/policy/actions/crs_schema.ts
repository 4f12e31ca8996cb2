import * as z from 'zod';
import { onError } from './schema.ts';

const RULE_FIRST = 900_000;
const RULE_LAST = 999_999;

/** Fields of both actions of the OWASP core rule set. */
export const crsFields = {
  on_error: onError('halt'),
  process_body: z.boolean().default(false).describe('Whether rules look into the body.'),
  exclude_rule_ids: z
    .array(z.int().min(RULE_FIRST).max(RULE_LAST))
    .default([])
    .meta({ description: 'Rules to leave out, 900000 to 999999.', uniqueItems: true }),
};
