import * as z from 'zod';
import { enforce } from '../action_fields_schema.ts';

const CREDENTIAL_LIMIT = 10;
const REALM_LIMIT = 128;

export const basicAuth = z
  .strictObject({
    credentials: z
      .array(z.string().min(1).meta({ kind: 'credential', template: true, secret: true }))
      .min(1)
      .max(CREDENTIAL_LIMIT)
      .describe("Allowed pairs 'user:password', 1 to 10; passwords have 8 to 128 characters."),
    realm: z
      .string()
      .max(REALM_LIMIT)
      .regex(/^[\x20-\x7e]*$/)
      .optional()
      .meta({
        description: 'Realm of the challenge, at most 128 ASCII characters; default: the service name.',
        form: 'printable ASCII characters',
      }),
    enforce,
  })
  .describe('Requires a user name and a password (RFC 7617).');

export type BasicAuthConfig = z.output<typeof basicAuth>;
