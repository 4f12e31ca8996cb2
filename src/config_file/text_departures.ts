import type { Departure, Shape } from './shape.ts';

/** How a string departs from the words that are allowed. */
export function wordDeparture(shape: Shape, value: string): Departure | null {
  const { enum: allowed, enumAnyCase } = shape;
  if (allowed !== undefined && !allowed.includes(value))
    return { kind: 'unknown_value', shape, allowed, received: value };
  if (enumAnyCase !== undefined && !enumAnyCase.includes(value.toLowerCase())) {
    return { kind: 'unknown_value', shape, allowed: enumAnyCase, received: value };
  }
  return value.length < (shape.minLength ?? 0) ? { kind: 'empty', shape, of: 'text' } : null;
}

/** How a string departs from its length and form. */
export function formDeparture(shape: Shape, value: string): Departure | null {
  const { maxBytes = Infinity, maxLength = Infinity, pattern } = shape;
  // A UTF-16 unit has at most three bytes.
  if (value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes) {
    const size = Buffer.byteLength(value);
    return { kind: 'too_long', shape, unit: 'bytes', size, limit: maxBytes };
  }
  if (value.length > maxLength && Array.from(value).length > maxLength) {
    const size = Array.from(value).length;
    return { kind: 'too_long', shape, unit: 'characters', size, limit: maxLength };
  }
  if (pattern !== undefined && !new RegExp(pattern).test(value)) {
    return { kind: 'bad_form', shape, form: shape.form ?? pattern, received: value };
  }
  return null;
}
