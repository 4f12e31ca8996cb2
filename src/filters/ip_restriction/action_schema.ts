import * as z from 'zod';
import { enforce } from '../action_fields_schema.ts';

function ranges(description: string) {
  return z
    .array(z.string().min(1).meta({ kind: 'cidr', template: true }))
    .default([])
    .describe(description);
}

export const restrictIps = z
  .strictObject({
    allow: ranges("Allowed addresses and ranges, such as '192.0.2.0/24'."),
    deny: ranges('Denied addresses and ranges; they take precedence.'),
    ip_policies: z
      .array(z.string().min(1).meta({ kind: 'ip_policy' }))
      .default([])
      .describe('IP policies whose rules apply too.'),
    enforce,
  })
  .describe('Allows clients by address: an allow must match, and no deny.');

export type RestrictIpsConfig = z.output<typeof restrictIps>;
