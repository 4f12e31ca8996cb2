import * as z from 'zod';

/** The schema of requests and their connections in scenarios; `schema.ts` describes how such schemas are used. */

export const duration = z
  .string()
  .regex(/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/)
  .meta({ form: "a duration such as '5ms', '2.1s' or '1h30m'" });

export const headers = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]));

const names = z.array(z.string()).optional();

export const clientCertificate = z
  .strictObject({
    serial_number: z.string().optional().describe('Serial number, as lower-case hexadecimal.'),
    subject_cn: z.string().optional().describe('Common name of its subject.'),
    organization: z.string().optional().describe('Organization of its subject.'),
    issuer_cn: z.string().optional().describe('Common name of its issuer.'),
    dns_names: names.describe('Alternative names: hosts.'),
    email_addresses: names.describe('Alternative names: e-mail addresses.'),
    ip_addresses: names.describe('Alternative names: IP addresses.'),
    uris: names.describe('Alternative names: URIs.'),
    not_before: z.string().optional().describe('Start of its validity, RFC 3339; default 1970.'),
    not_after: z.string().optional().describe('End of its validity, RFC 3339; default none.'),
  })
  .meta({
    id: 'client_certificate',
    description:
      'Client certificate, issued by a trusted authority; edges without mutual TLS do not request one.',
  });

export const tls = z
  .strictObject({
    version: z.enum(['1.0', '1.1', '1.2', '1.3']).optional().describe('Version of TLS; default 1.3.'),
    cipher_suite: z.string().optional().describe('IANA name; default TLS_AES_256_GCM_SHA384.'),
    server_name: z.string().optional().describe('Server name (SNI); default the host of the request.'),
    alpn: z.string().optional().describe('Negotiated protocol; default http/1.1, empty for none.'),
    client_certificate: clientCertificate.optional(),
  })
  .describe('The handshake of an https request; default what curl and Node negotiate.');

export const request = z
  .strictObject({
    method: z.string().optional().describe('Default GET.'),
    url: z.string().optional().describe('Absolute URL, or a path on the default host.'),
    scheme: z.enum(['http', 'https']).optional().describe('Default https.'),
    host: z.string().optional().describe('Default: the first host of the edge.'),
    path: z.string().optional().describe('Path and query, used as written.'),
    headers: headers.optional().describe('Fields by name; a list of values repeats the field.'),
    body: z.string().optional().describe('Body of the request.'),
    json: z.unknown().optional().describe('Body of the request, as data.'),
    ip: z.string().optional().describe('Address of the client; default 203.0.113.9.'),
    tls: tls.optional(),
    as: z
      .string()
      .optional()
      .describe('Identity whose browser sends the request: with its cookies, and through logins.'),
    node: z
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe('Node that receives it; default by the spread of `nodes`.'),
    leaves_after: duration.optional().describe('The client disconnects after this time.'),
    jwt: z
      .strictObject({
        claims: z.record(z.string(), z.unknown()).optional().describe('Claims besides `iat` and `exp`.'),
        expires_in: z
          .string()
          .regex(/^-?(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/)
          .meta({ form: "a duration such as '1h', or '-5m' for one that has expired" })
          .optional()
          .describe('Time until it expires; default 1h, negative for one that has expired.'),
        header: z.string().optional().describe('Field that holds it; default authorization.'),
        prefix: z.string().optional().describe("Text before it; default 'Bearer '."),
        tamper: z.boolean().optional().describe('Whether its signature is wrong.'),
      })
      .optional()
      .describe('A token, minted when the request is sent, with RS256 and the key of `key_set`.'),
    sign: z
      .strictObject({
        provider: z.string().describe('Provider of webhooks, such as `github`.'),
        secret: z.string().describe('Secret shared with the provider.'),
        ago: duration.optional().describe('Time between signing and sending; default 0.'),
        tamper: z
          .enum(['body', 'signature'])
          .optional()
          .describe('Changes the body, or the signature, after signing.'),
      })
      .optional()
      .describe('Signs the request as a webhook provider does.'),
  })
  .meta({ id: 'request', description: 'A request.' });

export const send = z.union([
  z.string(),
  request.extend({
    count: z.int().min(1).max(10_000_000).optional().describe('Number of requests; default 1.'),
    every: duration.optional().describe('Time between them; default none.'),
  }),
]);
