import { type FieldList, firstValue } from './fields.ts';

/** More digits than any content needs; fewer than a number loses. */
const LENGTH = /^[0-9]{1,15}$/;

/** Whether a value of `Content-Length` is a number of bytes (RFC 9110 §8.6). */
export function isLength(value: string): boolean {
  return LENGTH.test(value);
}

/** `Content-Length` in bytes; null if it is absent or not a number. */
export function contentLength(fields: FieldList): number | null {
  const value = firstValue(fields, 'content-length');
  return value !== undefined && isLength(value) ? Number(value) : null;
}

/** RFC 9110 §8.6: requests with these methods declare a length even without content. */
export const METHODS_WITH_CONTENT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
