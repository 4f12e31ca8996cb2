import * as z from 'zod';
import { sourceSchema, sourceUpdateSchema } from './events.ts';
import { refSchema } from './fields.ts';

/** Shapes of responses that do not come from the table of resources, for the API description. */
export interface Described {
  /** Name of the schema. */
  readonly name: string;
  readonly answer: z.ZodObject;
  readonly create?: z.ZodObject;
  readonly update?: z.ZodObject;
  readonly listKey: string;
  /** Whether its list is paginated. */
  readonly isPaged: boolean;
}

const text = z.string();
const at = z.string().describe('RFC 3339.');
const ref = refSchema.nullable();

const online = (name: string, listKey: string, fields: z.ZodRawShape): Described => ({
  name,
  answer: z.object({ id: text, uri: text, ...fields }),
  listKey,
  isPaged: true,
});

// table: response shapes by title
export const DESCRIBED: Readonly<Record<string, Described>> = {
  'event source': {
    name: 'EventSource',
    answer: sourceSchema.extend({ uri: text }),
    create: sourceSchema,
    update: sourceUpdateSchema,
    listKey: 'sources',
    isPaged: false,
  },
  'dead letter': {
    name: 'DeadLetter',
    answer: z.object({
      id: text,
      reason: text.describe('Why the destination refused the event.'),
      event: z.record(text, z.unknown()),
    }),
    listKey: 'dead_letters',
    isPaged: true,
  },
  'tunnel session': online('TunnelSession', 'tunnel_sessions', {
    agent_version: text.describe('Version of the agent that started the session.'),
    credential: refSchema.describe('The tunnel credential or SSH credential used by the agent.'),
    ip: text.describe('Address of the agent.'),
    metadata: text.optional().describe("User data of the agent's configuration."),
    os: text.describe("Operating system of the agent's host."),
    region: text.describe('Region in which the session started.'),
    started_at: at,
    transport: text.describe('Protocol between agent and service.'),
  }),
  tunnel: online('Tunnel', 'tunnels', {
    public_url: text,
    started_at: at,
    metadata: text.optional(),
    proto: text,
    region: text,
    tunnel_session: ref,
    endpoint: ref,
    labels: z.record(text, text),
    backends: z.array(refSchema),
    forwards_to: text,
  }),
  'application user': online('ApplicationUser', 'application_users', {
    identity_provider: z.object({ name: text, url: text }),
    provider_user_id: text,
    username: text,
    email: text,
    name: text,
    created_at: at,
    last_active: at,
    last_login: at,
  }),
  'application session': online('ApplicationSession', 'application_sessions', {
    public_url: text,
    browser_session: z.object({
      ip_address: text,
      location: z
        .object({
          country_code: text,
          latitude: z.number(),
          longitude: z.number(),
          lat_long_radius_km: z.int(),
        })
        .nullable(),
      user_agent: z.object({
        raw: text,
        browser_name: text,
        browser_version: text,
        device_type: text.describe('Desktop, Mobile, Tablet or Bot.'),
        os_name: text,
        os_version: text,
      }),
    }),
    application_user: ref,
    created_at: at,
    last_active: at,
    expires_at: at.nullable(),
    endpoint: ref,
    edge: ref,
    route: ref,
  }),
  user: online('User', 'users', { created_at: at, email: text }),
};
