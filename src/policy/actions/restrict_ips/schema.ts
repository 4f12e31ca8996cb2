import * as z from 'zod';
import { enforce } from '../schema.ts';

function ranges(description: string) {
  return z
    .array(z.string().min(1).meta({ kind: 'cidr', template: true }))
    .default([])
    .describe(description);
}

export const restrictIps = z
  .strictObject({
    allow: ranges("Ranges of addresses that are let in, such as '192.0.2.0/24'."),
    deny: ranges('Ranges of addresses that are refused, whatever else allows them.'),
    ip_policies: z
      .array(z.string().min(1).meta({ kind: 'ip_policy' }))
      .default([])
      .describe('IP policies whose rules count too.'),
    enforce,
  })
  .describe('Lets in clients by address: one allow must match, and no deny.');

export type RestrictIpsConfig = z.output<typeof restrictIps>;
