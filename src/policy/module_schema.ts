import * as z from 'zod';
import { isJson } from '../http/ascii.ts';
import { type ModuleApi, enabled } from '../filters/module_fields_schema.ts';

export const trafficPolicy = z
  .strictObject({
    enabled,
    value: z.string().min(1).describe('The traffic policy: a JSON document as a string.'),
  })
  .describe('Applies the rules of a traffic policy.');

/** Largest policies in bytes that the management API checks and compiles in a few seconds, in slices. */
const JSON_LIMIT_BYTES = 1024 * 1024;
/** YAML takes longer to read, and a part of that in one piece. */
const YAML_LIMIT_BYTES = 256 * 1024;

/** A policy in a request of the management API. */
export function policyText(description: string) {
  return z
    .string()
    .refine(isShortEnough, {
      error: 'longer than 1 MiB, or than 256 KiB in YAML, which takes longer to read than JSON',
    })
    .describe(description);
}

/** What begins as JSON may be YAML after all. */
function isShortEnough(text: string): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes <= YAML_LIMIT_BYTES || (bytes <= JSON_LIMIT_BYTES && isJson(text));
}

export const trafficPolicyApi: ModuleApi = {
  schema: z
    .strictObject({ enabled, value: policyText('The traffic policy: a JSON document as a string.').min(1) })
    .describe(trafficPolicy.description ?? ''),
};

export type TrafficPolicyConfig = z.output<typeof trafficPolicy>;
