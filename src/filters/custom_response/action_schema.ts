import * as z from 'zod';
import { headerMap, template } from '../action_fields_schema.ts';

export const customResponse = z
  .strictObject({
    status_code: z.int().min(100).max(599).default(200).describe('Status of the response.'),
    body: template('Body of the response.').optional(),
    headers: headerMap('Headers of the response, at most 10.', 0).default({}),
  })
  .meta({ description: 'Answers with a fixed response.', aliases: { content: 'body' } });

export type CustomResponseConfig = z.output<typeof customResponse>;
