import * as z from 'zod';
import { JWS_ALGORITHMS } from '../../../crypto/jws.ts';
import { neededTemplate, template } from '../schema.ts';

const KEY_SOURCE_LIMIT = 100;

function allowList(what: string) {
  return z
    .strictObject({
      allow_list: z
        .array(
          z
            .strictObject({ value: neededTemplate(`One ${what} that is let in; compared exactly.`) })
            .describe(`One allowed ${what}.`),
        )
        .min(1)
        .describe(`Each ${what} that is let in.`),
    })
    .describe(`Which ${what} tokens may have.`);
}

const token = z
  .strictObject({
    type: z
      .enum(['id_token', 'access_token', 'at+jwt', 'it+jwt', 'plain', 'jwt'])
      .describe('What kind of token it is.'),
    method: z.enum(['header', 'body']).describe('Where in the request the token is.'),
    name: neededTemplate('Name of the header or of the field of the body, in any letter case.'),
    prefix: template("Text before the token, such as 'Bearer '.").default(''),
  })
  .describe('Where one token is found.');

const keys = z
  .strictObject({
    metadata: z
      .strictObject({
        claims: z
          .array(z.enum(['kid']))
          .default([])
          .describe('Claims of the token: kid.'),
      })
      .describe('What tokens say of their key.')
      .optional(),
    sources: z
      .strictObject({
        additional_jkus: z
          .array(z.string().min(1).meta({ kind: 'url', template: true }))
          .max(KEY_SOURCE_LIMIT)
          .default([])
          .describe('URLs of key sets (RFC 7517), at most 100.'),
      })
      .describe('Where the keys come from.'),
  })
  .meta({ description: 'Keys that verify signatures.', listOfOne: true });

export const jwtValidation = z
  .strictObject({
    issuer: allowList('issuer'),
    audience: allowList('audience').optional(),
    http: z
      .strictObject({
        tokens: z.array(token).min(1).describe('Tokens that a request must carry, all of them.'),
      })
      .describe('Where tokens are found in a request.'),
    jws: z
      .strictObject({
        allowed_algorithms: z
          .array(z.enum(JWS_ALGORITHMS))
          .min(1)
          .meta({ description: 'Signature algorithms that are let in.', uniqueItems: true }),
        keys,
      })
      .describe('How tokens are signed.'),
  })
  .describe('Lets in requests whose JSON Web Tokens are valid.');

export type JwtValidationConfig = z.output<typeof jwtValidation>;
