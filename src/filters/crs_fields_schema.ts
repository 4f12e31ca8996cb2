import * as z from 'zod';
import { onError } from './action_fields_schema.ts';

const RULE_FIRST = 900_000;
const RULE_LAST = 999_999;

/** Common fields of both actions of the OWASP core rule set. */
export const crsFields = {
  on_error: onError('halt'),
  process_body: z.boolean().default(false).describe('Whether rules inspect the body.'),
  exclude_rule_ids: z
    .array(z.int().min(RULE_FIRST).max(RULE_LAST))
    .default([])
    .meta({ description: 'Rules to skip, 900000 to 999999.', uniqueItems: true }),
};
