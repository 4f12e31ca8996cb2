import * as z from 'zod';
import { type ModuleApi, enabled } from '../module_fields_schema.ts';

const minVersion = z
  .enum(['1.0', '1.1', '1.2', '1.3'])
  .default('1.2')
  .describe('Oldest TLS version that clients may use.');

/** HTTPS edges always terminate TLS themselves. */
export const tlsTerminationAtEdge = z
  .strictObject({
    enabled,
    min_version: minVersion,
    redirect_http: z
      .boolean()
      .default(false)
      .describe('Whether requests without TLS are redirected to https instead of being served.'),
  })
  .describe('How the edge terminates TLS.');

export const tlsTermination = z
  .strictObject({
    enabled,
    terminate_at: z
      .enum(['edge', 'agent', 'upstream'])
      .default('edge')
      .describe('Where TLS is terminated; unless it is the edge, the bytes are passed through.'),
    min_version: minVersion,
  })
  .describe('Where and how TLS is terminated.');

/** Responses of HTTPS edges show where TLS ends, like those of TLS edges. */
export const tlsTerminationAtEdgeApi: ModuleApi = {
  shown: { schema: tlsTermination, show: (config) => ({ ...config, terminate_at: 'edge' }) },
};

export type TlsTerminationAtEdgeConfig = z.output<typeof tlsTerminationAtEdge>;
export type TlsTerminationConfig = z.output<typeof tlsTermination>;
