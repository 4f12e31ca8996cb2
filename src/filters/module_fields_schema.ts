import * as z from 'zod';

/** Fields and limits that the schemas of several modules share. */

/** The form of a config in the management API. */
export interface ModuleApi {
  /** In requests, if edge files have another. */
  readonly schema?: z.ZodObject;
  /** In responses, if it differs by more than its references. */
  readonly shown?: {
    readonly schema: z.ZodObject;
    readonly show: (config: Readonly<Record<string, unknown>>, about: ShownAbout) => object;
  };
}

/** What responses say of a route besides its config. */
export interface ShownAbout {
  readonly id: string;
  readonly service: string;
  /** PEM certificate of the key with which a route signs its SAML requests. */
  readonly samlCertificate: (route: string) => string;
}

/** Largest unsigned 32-bit integer, the wire type of all durations. */
const SECONDS_LIMIT = 4_294_967_295;

/** A text limited in bytes of UTF-8, as the specification counts. */
export function textOfBytes(limitBytes: number, description: string) {
  return z
    .string()
    .refine((text) => new TextEncoder().encode(text).length <= limitBytes, {
      error: `over ${limitBytes} bytes`,
    })
    .meta({ description, maxBytes: limitBytes });
}

/** A duration in whole seconds, `least` or more, that takes `standard` when it is left out. */
export function seconds(least: 0 | 1, standard: number, description: string) {
  return z.int().min(least).max(SECONDS_LIMIT).default(standard).describe(description);
}

/** A list of texts that is empty when it is left out. */
export function textList(description: string) {
  return z.array(z.string()).default([]).describe(description);
}

/** Every module object has it. */
export const enabled = z.boolean().default(true).describe('Whether the module is applied to traffic.');

/** What the session gates (OAuth, OIDC, SAML) have in common. */
export const session = {
  options_passthrough: z
    .boolean()
    .default(false)
    .describe('Whether OPTIONS requests pass without authentication, as cross-origin requests need.'),
  cookie_prefix: z
    .string()
    .regex(/^[A-Za-z0-9.]*$/)
    .meta({
      description: 'Prefix of the session cookie; the service name and a dot when left out or empty.',
      form: 'letters, digits and dots',
    })
    .optional(),
  inactivity_timeout: seconds(0, 0, 'Seconds without a request after which the session ends; 0 for never.'),
  maximum_duration: seconds(0, 0, 'Seconds after which a session ends in any case; 0 for never.'),
};
