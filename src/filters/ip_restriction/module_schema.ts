import * as z from 'zod';
import { enabled } from '../module_fields_schema.ts';

export const ipRestriction = z
  .strictObject({
    enabled,
    ip_policy_ids: z
      .array(z.string().min(1))
      .min(1)
      .describe('Names of the IP policies whose rules apply together, at least one.'),
  })
  .describe('Allows or blocks clients by the address of the connection.');

export type IpRestrictionConfig = z.output<typeof ipRestriction>;
