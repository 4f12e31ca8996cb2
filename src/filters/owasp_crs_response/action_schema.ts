import * as z from 'zod';
import { crsFields } from '../crs_fields_schema.ts';

export const owaspCrsResponse = z
  .strictObject(crsFields)
  .describe('Rejects responses that the OWASP core rule set finds dangerous. Recognised but not simulated.');

export type OwaspCrsResponseConfig = z.output<typeof owaspCrsResponse>;
