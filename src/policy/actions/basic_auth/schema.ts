import * as z from 'zod';
import { enforce } from '../schema.ts';

const CREDENTIAL_LIMIT = 10;
const REALM_LIMIT = 128;

export const basicAuth = z
  .strictObject({
    credentials: z
      .array(z.string().min(1).meta({ kind: 'credential', template: true, secret: true }))
      .min(1)
      .max(CREDENTIAL_LIMIT)
      .describe("Pairs 'user:password' that are let in, 1 to 10; passwords have 8 to 128 characters."),
    realm: z
      .string()
      .max(REALM_LIMIT)
      .regex(/^[\x20-\x7e]*$/)
      .optional()
      .meta({
        description: 'Realm of the challenge, at most 128 ASCII characters; the service name when left out.',
        form: 'printable ASCII characters',
      }),
    enforce,
  })
  .describe('Asks for a user name and a password (RFC 7617).');

export type BasicAuthConfig = z.output<typeof basicAuth>;
