import * as z from 'zod';

/** Fields and limits that are common to the schemas of several modules. */

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

/** What a response is made from, besides the config of the route. */
interface ShownAbout {
  readonly id: string;
  readonly service: string;
  /** PEM certificate of the key with which a route signs its SAML requests. */
  readonly samlCertificate: (route: string) => string;
}

/** Largest unsigned 32-bit integer, the wire type of all durations. */
const SECONDS_LIMIT = 4_294_967_295;

/** A text with a limit in UTF-8 bytes, as in the specification. */
export function textOfBytes(limitBytes: number, description: string) {
  return z
    .string()
    .refine((text) => new TextEncoder().encode(text).length <= limitBytes, {
      error: `longer than ${limitBytes} bytes`,
    })
    .meta({ description, maxBytes: limitBytes });
}

/** A duration in whole seconds, at least `least`, with the default `standard`. */
export function seconds(least: 0 | 1, standard: number, description: string) {
  return z.int().min(least).max(SECONDS_LIMIT).default(standard).describe(description);
}

/** A list of texts; empty by default. */
export function textList(description: string) {
  return z.array(z.string()).default([]).describe(description);
}

/** Field of every module. */
export const enabled = z
  .boolean()
  .default(true)
  .meta({ description: 'Whether the module is applied to traffic.', mutants: 'none', switch: true });

/** Common fields of session gates (OAuth, OIDC, SAML). */
export const session = {
  options_passthrough: z
    .boolean()
    .default(false)
    .describe('Whether OPTIONS requests pass without authentication, as needed for CORS preflights.'),
  cookie_prefix: z
    .string()
    .regex(/^[A-Za-z0-9.]*$/)
    .meta({
      description: 'Prefix of the session cookie; default: the service name and a dot.',
      form: 'letters, digits and dots',
    })
    .optional(),
  inactivity_timeout: seconds(0, 0, 'Seconds without a request after which the session ends; 0: never.'),
  maximum_duration: seconds(0, 0, 'Seconds after which a session ends regardless of activity; 0: never.'),
};
