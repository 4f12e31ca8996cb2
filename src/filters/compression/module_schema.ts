import * as z from 'zod';
import { enabled } from '../module_fields_schema.ts';

export const compression = z.strictObject({ enabled }).describe('Compresses responses with gzip or deflate.');

export type CompressionConfig = z.output<typeof compression>;
