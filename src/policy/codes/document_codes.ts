import type { DocumentCode } from './code.ts';
import { ACCESS_CODES } from './documents/access.ts';
import { FIELD_CODES } from './documents/fields.ts';
import { HEADER_CODES } from './documents/headers.ts';
import { RULE_CODES } from './documents/rules.ts';

/** The codes of the policy check with their examples, in ascending order. */
export const DOCUMENT_CODES: readonly DocumentCode[] = [
  ...RULE_CODES,
  ...FIELD_CODES,
  ...HEADER_CODES,
  ...ACCESS_CODES,
].toSorted((one, other) => one.number - other.number);
