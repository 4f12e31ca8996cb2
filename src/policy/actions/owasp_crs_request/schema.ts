import * as z from 'zod';
import { crsFields } from '../crs_schema.ts';

export const owaspCrsRequest = z
  .strictObject(crsFields)
  .describe('Refuses a request that the OWASP core rule set finds dangerous. Recognised, not simulated.');

export type OwaspCrsRequestConfig = z.output<typeof owaspCrsRequest>;
