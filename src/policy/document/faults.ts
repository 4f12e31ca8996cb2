import { TYPE_WORDS, quoted, shown } from '../../diagnostics/message_text.ts';
import type { Fault } from '../../filters/action_fields_schema.ts';
import type { Checking } from './checking.ts';
import type { More } from './findings.ts';
import { quoteAsWritten, replaceValue } from './repairs.ts';
import { type Shape, numberOf } from './shape.ts';
import { fieldName } from './message_text.ts';

/** Replaces an invalid value that was reported. */
export const LEFT = undefined;

/** Reports a fault of a field under its number. */
export function fault(
  checking: Checking,
  what: Fault,
  shape: Shape,
  pointer: string,
  message: string,
  more: More = {},
): void {
  checking.report(numberOf(what, shape), pointer, message, more);
}

const INSTEAD: Readonly<Record<NonNullable<Shape['type']>, string>> = {
  object: 'write its fields below it, each as key: value',
  array: 'put it in brackets: [ … ]',
  string: 'write a string',
  number: 'write a number',
  integer: 'write a number without a fraction',
  boolean: 'write true or false',
};

/** Reports a value of the wrong type, with a fix if the intention is clear. */
export function wrongType(checking: Checking, shape: Shape, value: unknown, pointer: string): undefined {
  const wanted = TYPE_WORDS[shape.type ?? 'object'];
  const message = `${quoted(fieldName(pointer))} has to be ${wanted}, not ${shown(value)}`;
  const hint = INSTEAD[shape.type ?? 'object'];
  checking.report(numberOf('type', shape), pointer, message, {
    hint,
    ...typeRepair(checking, shape, value, pointer),
  });
  return LEFT;
}

function typeRepair({ policy }: Checking, shape: Shape, value: unknown, pointer: string): More {
  if (shape.type === 'string' && ['number', 'boolean', 'bigint'].includes(typeof value)) {
    return { hint: 'put it in quotes', fix: quoteAsWritten(policy, pointer, true) };
  }
  if (typeof value === 'string') {
    const isNumber = /^\d+(?:\.\d+)?$/.test(value) && (shape.type === 'integer' || shape.type === 'number');
    const isTruth = shape.type === 'boolean' && /^(?:true|false)$/.test(value);
    if (isNumber || isTruth) {
      return {
        hint: 'write it without quotes',
        fix: replaceValue(policy, pointer, 'remove the quotes', value, true),
      };
    }
  }
  if (shape.kind === 'credential') return { hint: 'write one string without spaces: user:password' };
  if (shape.type === 'array' && shape.items?.kind === 'credential')
    return { hint: "write a list of texts: ['user:password']" };
  if (shape.type === 'array' && typeof value === 'object' && value !== null)
    return { hint: 'begin each item with a dash and a space' };
  if (shape.type === 'array' && value !== null && typeof value !== 'object') {
    const span = policy.spanOf(pointer);
    const written = span === undefined ? '' : policy.text.slice(span.start, span.end);
    const inBrackets = /^["']|^[\w./:-]+$/.test(written);
    return {
      hint: 'put it in brackets: […]',
      fix: inBrackets ? replaceValue(policy, pointer, 'make it a list', `[${written}]`, true) : undefined,
    };
  }
  return {};
}
