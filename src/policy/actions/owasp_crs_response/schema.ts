import * as z from 'zod';
import { crsFields } from '../crs_schema.ts';

export const owaspCrsResponse = z
  .strictObject(crsFields)
  .describe('Refuses a response that the OWASP core rule set finds dangerous. Recognised, not simulated.');

export type OwaspCrsResponseConfig = z.output<typeof owaspCrsResponse>;
