import * as z from 'zod';
import { crsFields } from '../crs_fields_schema.ts';

export const owaspCrsRequest = z
  .strictObject(crsFields)
  .describe('Rejects requests that the OWASP core rule set finds dangerous. Recognised but not simulated.');

export type OwaspCrsRequestConfig = z.output<typeof owaspCrsRequest>;
