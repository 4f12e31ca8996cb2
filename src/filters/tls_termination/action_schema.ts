import * as z from 'zod';

function version(description: string, standard: '1.2' | '1.3') {
  return z.enum(['1.0', '1.1', '1.2', '1.3']).default(standard).describe(description);
}

export const terminateTls = z
  .strictObject({
    min_version: version('Oldest TLS version that clients may use.', '1.2'),
    max_version: version('Newest TLS version that clients may use.', '1.3'),
    server_private_key: z.string().min(1).optional().meta({
      description: 'Private key of the certificate, as PEM.',
      kind: 'pem',
      template: true,
      secret: true,
    }),
    server_certificate: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Certificate chain, as PEM.', kind: 'pem', template: true }),
    mutual_tls_certificate_authorities: z
      .array(z.string().min(1).meta({ template: true }))
      .default([])
      .describe('Authorities for client certificates: PEM texts or ids.'),
    mutual_tls_verification_strategy: z
      .enum(['require-and-verify', 'require-any', 'request'])
      .default('require-and-verify')
      .describe('Requirement for client certificates.'),
  })
  .describe('Terminates TLS at the edge.');

export type TerminateTlsConfig = z.output<typeof terminateTls>;
