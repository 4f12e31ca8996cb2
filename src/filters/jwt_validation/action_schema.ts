import * as z from 'zod';
import { JWS_ALGORITHMS } from '../../crypto/jws.ts';
import { neededTemplate, template } from '../action_fields_schema.ts';
import { KEY_SOURCE_LIMIT } from './algorithm.ts';

const KEYS_LIMIT = 10;

function allowList(what: string) {
  return z
    .strictObject({
      allow_list: z
        .array(
          z
            .strictObject({ value: neededTemplate(`One allowed ${what}; compared exactly.`) })
            .describe(`One allowed ${what}.`),
        )
        .min(1)
        .describe(`The allowed ${what}s.`),
    })
    .describe(`Which ${what}s are allowed.`);
}

const token = z
  .strictObject({
    type: z
      .enum(['id_token', 'access_token', 'at+jwt', 'it+jwt', 'plain', 'jwt'])
      .describe('Type of the token.'),
    method: z.enum(['header', 'body']).describe('Where in the request the token is.'),
    name: neededTemplate('Name of the header or the body field, case-insensitive.'),
    prefix: template("Text before the token, such as 'Bearer '.").default(''),
  })
  .describe('Place of one token.');

const keys = z
  .strictObject({
    metadata: z
      .strictObject({
        claims: z
          .array(z.enum(['kid']))
          .default([])
          .describe('Claims of the token: kid.'),
      })
      .describe('How tokens identify their key.')
      .optional(),
    identification: itemOrList(
      z
        .strictObject({
          token_claims: z
            .array(z.enum(['kid']))
            .default([])
            .describe('Claims of the token that name its key: kid.'),
        })
        .describe('One way.'),
      'How tokens name their key.',
    ).optional(),
    sources: itemOrList(
      z
        .strictObject({
          additional_jkus: z
            .array(z.string().min(1).meta({ kind: 'url', template: true }))
            .max(KEY_SOURCE_LIMIT)
            .default([])
            .describe('URLs of key sets (RFC 7517), at most 100 in all.'),
        })
        .describe('One source.'),
      'Sources of the keys, tried in order.',
    ),
  })
  .describe('Keys of one kind.');

function itemOrList<Item extends z.ZodType>(item: Item, description: string) {
  return z.array(item).min(1).max(KEYS_LIMIT).meta({ description, itemOrList: true });
}

export const jwtValidation = z
  .strictObject({
    issuer: allowList('issuer'),
    audience: allowList('audience').optional(),
    http: z
      .strictObject({
        tokens: z.array(token).min(1).describe('Tokens that a request must have, all of them.'),
      })
      .describe('Places of tokens in a request.'),
    jws: z
      .strictObject({
        allowed_algorithms: z
          .array(z.enum(JWS_ALGORITHMS))
          .min(1)
          .meta({ description: 'Allowed signature algorithms.', uniqueItems: true }),
        keys: itemOrList(keys, 'Keys for verifying signatures, tried in order.'),
      })
      .describe('How tokens are signed.'),
  })
  .describe('Requires valid JSON Web Tokens.');

export type JwtValidationConfig = z.output<typeof jwtValidation>;
