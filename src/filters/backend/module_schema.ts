import * as z from 'zod';
import { enabled } from '../module_fields_schema.ts';

export const backend = z
  .strictObject({
    enabled,
    backend_id: z.string().min(1).describe('Name of the backend for the requests of this route.'),
  })
  .describe('Sends requests to a backend.');

export type BackendModuleConfig = z.output<typeof backend>;
