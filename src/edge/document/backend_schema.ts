import * as z from 'zod';
import { textOfBytes } from '../../filters/module_fields_schema.ts';

const DESCRIPTION_LIMIT_BYTES = 255;
const METADATA_LIMIT_BYTES = 4096;

/** Says of a member that `mutate` leaves its value alone. */
export const FIXED = { mutants: 'absence' } as const;

/** What each object may say about itself. */
export const notes = {
  description: textOfBytes(DESCRIPTION_LIMIT_BYTES, 'Description, at most 255 bytes.').meta(FIXED).optional(),
  metadata: textOfBytes(METADATA_LIMIT_BYTES, 'Arbitrary machine-readable data, at most 4096 bytes.')
    .meta(FIXED)
    .optional(),
};

const staticBackend = z
  .strictObject({
    address: z
      .string()
      .min(1)
      .meta({
        description: "Where to connect: host and port, such as 'localhost:3000'.",
        shorthand: '^(?:http://)?([\\w.-]+:\\d+)/?$',
        ...FIXED,
      }),
    tls: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .meta({ description: 'Whether to speak TLS to the upstream.', switch: true }),
      })
      .optional()
      .meta({ description: 'TLS towards the upstream.', ...FIXED }),
    protocol: z
      .enum(['http1', 'http2'])
      .optional()
      .meta({
        description:
          'Protocol of the upstream of an HTTPS edge: http1 (the default), or http2, which gRPC needs; without TLS, http2 uses prior knowledge.',
        ...FIXED,
      }),
    proxy_protocol: z
      .enum(['v1', 'v2'])
      .optional()
      .meta({
        description:
          'Sends the client address to the upstream of a TCP or TLS edge in a PROXY protocol header.',
        ...FIXED,
      }),
  })
  .describe('One upstream address.');

const httpResponseBackend = z
  .strictObject({
    status_code: z.int().min(200).max(599).describe('Status of the response, 200 to 599.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .meta({ description: 'Headers of the response.', kind: 'header_map' }),
    body: z.string().default('').describe('Body of the response.'),
  })
  .describe('A fixed response, without an upstream.');

const tunnelGroup = z
  .strictObject({
    labels: z
      .record(z.string().regex(/^[^=]+$/), z.string().regex(/^[^=]*$/))
      .describe('Labels that a tunnel must carry, all of them; names and values without =.'),
  })
  .describe('The tunnels of connected agents that carry all of these labels; requests are spread evenly.');

export const backend = z
  .strictObject({
    ...notes,
    static: staticBackend.optional(),
    http_response: httpResponseBackend.optional(),
    tunnel_group: tunnelGroup.optional(),
    weighted: z
      .record(z.string(), z.int().min(0).max(10_000))
      .optional()
      .describe(
        'Names of other backends with their weights, 0 to 10000; one is chosen at random for each request.',
      ),
    failover: z
      .array(z.string().min(1))
      .optional()
      .describe('Names of other backends in order; the next is tried only when a connection fails.'),
  })
  .describe('Where requests go: exactly one of static, http_response, tunnel_group, weighted and failover.');
