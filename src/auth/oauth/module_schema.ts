import * as z from 'zod';
import { type ModuleApi, enabled, seconds, session, textList } from '../../filters/module_fields_schema.ts';

const app = {
  client_id: z
    .string()
    .min(1)
    .optional()
    .describe('Client id of your own OAuth app; by default the managed app of the service is used.'),
  client_secret: z.string().min(1).optional().describe('Client secret of your own OAuth app.'),
  scopes: textList('OAuth scopes to ask for; only with an app of your own.'),
  email_addresses: z
    .array(
      z
        .string()
        .regex(/^[^A-Z\s@]+@[^A-Z\s@]+$/)
        .meta({ form: "an e-mail address in lower case such as 'ann@example.test'" }),
    )
    .default([])
    .describe('E-mail addresses of authorized users.'),
  email_domains: z
    .array(
      z
        .string()
        .regex(/^[^A-Z\s@]+$/)
        .meta({ form: "a domain in lower case such as 'example.test'" }),
    )
    .default([])
    .describe('Domains of e-mail addresses of authorized users.'),
};

const github = z
  .strictObject({
    ...app,
    teams: z
      .array(
        z
          .string()
          .regex(/^[^/\s]+\/[^/\s]+$/)
          .meta({ form: "an organization and a team such as 'acme/platform'" }),
      )
      .default([])
      .describe('Teams whose members are authorized, as organization/team.'),
    organizations: textList('Organizations whose members are authorized.'),
  })
  .describe('Login with GitHub.');

function provider(name: string) {
  return z.strictObject(app).describe(`Login with ${name}.`).optional();
}

export const oauth = z
  .strictObject({
    enabled,
    ...session,
    auth_check_interval: seconds(
      0,
      0,
      'Seconds after which the user is checked at the provider again; 0 checks only at login.',
    ),
    provider: z
      .strictObject({
        github: github.optional(),
        facebook: provider('Facebook'),
        microsoft: provider('Microsoft'),
        google: provider('Google'),
        linkedin: provider('LinkedIn'),
        gitlab: provider('GitLab'),
        twitch: provider('Twitch'),
        amazon: provider('Amazon'),
      })
      .describe('The identity provider (exactly one) and the authorized users.'),
  })
  .describe('Requires a login at an OAuth provider.');

export type OauthConfig = z.output<typeof oauth>;

const providers = oauth.shape.provider.shape;

/** Responses list all providers, unused ones as null. */
export const oauthApi: ModuleApi = {
  shown: {
    schema: oauth.extend({
      provider: z.strictObject(
        Object.fromEntries(Object.entries(providers).map(([name, app]) => [name, app.unwrap().nullable()])),
      ),
    }),
    show: (config, { service }) => {
      const given = config['provider'] as Readonly<Record<string, unknown>>;
      return {
        ...config,
        cookie_prefix: config['cookie_prefix'] ?? `${service}.`,
        provider: Object.fromEntries(Object.keys(providers).map((name) => [name, given[name] ?? null])),
      };
    },
  },
};
