import { pointerTo } from '../../../diagnostics/diagnostic.ts';
import { counted, quoted, shown } from '../../../diagnostics/message_text.ts';
import type { Checking, KindCheck } from '../checking.ts';
import { LEFT, fault, wrongType } from '../faults.ts';
import type { Shape } from '../shape.ts';
import { fieldName } from '../message_text.ts';

/** Maximum levels of lists and maps in the value of a variable or a log record. */
const NESTING_LIMIT = 10;

/** Any JSON value in which every string is a template. */
export const data: KindCheck = {
  whole: (checking, shape, value, pointer) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return wrongType(checking, { ...shape, type: 'object' }, value, pointer);
    }
    if (Object.keys(value).length < (shape.minProperties ?? 0)) {
      fault(checking, 'empty', shape, pointer, `${quoted(fieldName(pointer))} must not be empty`, {
        hint: 'add an entry',
      });
    }
    if (nesting(value, NESTING_LIMIT + 1) > NESTING_LIMIT) {
      const message = `${quoted(fieldName(pointer))} is nested deeper than ${NESTING_LIMIT} levels`;
      checking.report(2250, pointer, message, { at: 'key', hint: 'use fewer levels' });
      return LEFT;
    }
    return readData(checking, shape, value, pointer);
  },
};

/** A list of maps with one key each. */
export const variables: KindCheck = {
  whole: (checking, shape, value, pointer) => {
    const { report } = checking;
    if (!Array.isArray(value)) {
      const isMap = typeof value === 'object' && value !== null;
      const message = `'vars' has to be a list of maps with one key each, not ${shown(value)}`;
      report(2252, pointer, message, { hint: isMap ? 'put a dash before each name' : 'write - name: value' });
      return LEFT;
    }
    if (value.length === 0)
      fault(checking, 'empty', shape, pointer, `'vars' must not be empty`, { hint: 'add a variable' });
    return value.map((item: unknown, index) =>
      readVariable(checking, shape, item, pointerTo(pointer, index)),
    );
  },
};

function readVariable(checking: Checking, shape: Shape, item: unknown, pointer: string): unknown {
  if (typeof item === 'symbol') return LEFT;
  const names = typeof item === 'object' && item !== null && !Array.isArray(item) ? Object.keys(item) : null;
  if (names?.length !== 1) {
    const got = names === null ? shown(item) : `one with ${counted(names.length, 'key')}`;
    const message = `each entry of 'vars' has to be a map with exactly one key, not ${got}`;
    checking.report(2252, pointer, message, {
      hint:
        names !== null && names.length > 1
          ? 'write each variable as an entry of its own'
          : 'write name: value',
    });
    return LEFT;
  }
  const [name] = names as [string];
  if (name === '') checking.report(2252, pointer, 'a variable needs a name', { hint: 'write name: value' });
  const at = pointerTo(pointer, name);
  const value = (item as Readonly<Record<string, unknown>>)[name];
  if (nesting(value, NESTING_LIMIT + 1) > NESTING_LIMIT) {
    const message = `the value of ${quoted(name)} is nested deeper than ${NESTING_LIMIT} levels`;
    checking.report(2250, at, message, { hint: 'use fewer levels' });
    return LEFT;
  }
  return { [name]: readData(checking, shape, value, at) };
}

function nesting(value: unknown, atMost: number): number {
  if (typeof value !== 'object' || value === null || atMost === 0) return 0;
  let deepest = 0;
  for (const item of Object.values(value)) deepest = Math.max(deepest, nesting(item, atMost - 1));
  return deepest + 1;
}

/** Copies plain data and passes each of its strings to the expression engine. */
function readData(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  if (typeof value === 'symbol') return LEFT;
  if (typeof value === 'string') {
    checking.texts.push({ reads: 'template', pointer, text: value, shape });
    return value;
  }
  if (typeof value === 'bigint') return wrongType(checking, { type: 'number' }, value, pointer);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return wrongType(checking, { type: 'number' }, value, pointer);
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => readData(checking, shape, item, pointerTo(pointer, index)));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      readData(checking, shape, item, pointerTo(pointer, key)),
    ]),
  );
}
