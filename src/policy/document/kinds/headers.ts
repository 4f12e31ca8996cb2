import { pointerTo } from '../../../diagnostics/diagnostic.ts';
import { quoted } from '../../../diagnostics/message_text.ts';
import { isFieldName, isFieldValue } from '../../../http/fields.ts';
import { isFraming, isHopByHop } from '../../../http/forwarding.ts';
import type { Checking, KindCheck } from '../checking.ts';
import { LEFT, fault, wrongType } from '../faults.ts';
import type { Shape } from '../shape.ts';
import { fieldName } from '../message_text.ts';

const NAME_LIMIT = 256;
const VALUE_LIMIT = 8192;

/** Header names with values. */
export const headerMap: KindCheck = {
  whole: (checking, shape, value, pointer) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return wrongType(checking, { ...shape, type: 'object' }, value, pointer);
    }
    const entries = Object.entries(value as Readonly<Record<string, unknown>>);
    const name = quoted(fieldName(pointer));
    if (entries.length < (shape.minProperties ?? 0)) {
      fault(checking, 'empty', shape, pointer, `${name} must not be empty`, { hint: 'add a header' });
    } else if (entries.length > (shape.maxProperties ?? Infinity)) {
      const hint = `at most ${shape.maxProperties} are allowed`;
      fault(checking, 'too_many', shape, pointer, `${name} has ${entries.length} headers`, {
        at: 'key',
        hint,
      });
    }
    const result: Record<string, string> = {};
    const seen = new Map<string, string>();
    for (const [header, given] of entries) {
      const at = pointerTo(pointer, header);
      checkName(checking, header, at, 'key');
      reportTwice(checking, shape, header, at, seen);
      const text = readHeaderValue(checking, shape, given, at);
      if (text !== undefined) result[header] = text;
    }
    return result;
  },
};

/** The name of a header, as a list item. */
export const headerName: KindCheck = {
  text: (checking, _shape, text, pointer) => {
    if (text.toLowerCase() !== 'host') return checkName(checking, text, pointer, 'value');
    checking.report(2210, pointer, 'Host cannot be removed: every request needs it (RFC 9112 §3.2)', {
      hint: 'add-headers with host replaces its value',
    });
    return false;
  },
};

function readHeaderValue(
  checking: Checking,
  shape: Shape,
  given: unknown,
  pointer: string,
): string | undefined {
  if (typeof given === 'symbol') return LEFT;
  const isNumber = typeof given === 'number' && Number.isFinite(given);
  if (isNumber || typeof given === 'boolean' || typeof given === 'bigint')
    return writtenText(checking, pointer) ?? String(given);
  if (typeof given !== 'string') return wrongType(checking, { type: 'string' }, given, pointer);
  checking.texts.push({ reads: 'template', pointer, text: given, shape });
  if (given.includes('${')) return given;
  if (given.length > VALUE_LIMIT) {
    const message = `the value of the header has ${given.length} characters`;
    checking.report(2209, pointer, message, { hint: `at most ${VALUE_LIMIT} are allowed` });
  } else if (!isFieldValue(given)) {
    const message = 'the value has characters that are not allowed in headers (RFC 9110 §5.5)';
    checking.report(2211, pointer, message, { hint: 'header values are one line of Latin letters' });
  }
  return given;
}

/** A number or a truth value as it is written: `1.10` is not `1.1`. */
function writtenText({ policy }: Checking, pointer: string): string | undefined {
  const span = policy.spanOf(pointer);
  const written = span && policy.text.slice(span.start, span.end);
  return written !== undefined && /^[\w.+-]+$/.test(written) ? written : undefined;
}

function checkName({ report }: Checking, header: string, pointer: string, at: 'key' | 'value'): boolean {
  const problem = nameProblem(header);
  if (problem === undefined) return true;
  report(problem.number, pointer, problem.message, { at, hint: problem.hint });
  return false;
}

interface NameProblem {
  readonly number: number;
  readonly message: string;
  readonly hint: string;
}

function nameProblem(header: string): NameProblem | undefined {
  const lower = header.toLowerCase();
  if (header.length > NAME_LIMIT) {
    const message = `the name of the header has ${header.length} characters`;
    return { number: 2208, message, hint: `at most ${NAME_LIMIT} are allowed` };
  }
  if (!isFieldName(header)) {
    const message = `${quoted(header)} is not a valid header name (RFC 9110 §5.1)`;
    return { number: 2210, message, hint: 'names are letters, digits and dashes' };
  }
  if (lower === 'user-agent') {
    return { number: 2210, message: 'User-Agent cannot be added or removed', hint: 'remove it' };
  }
  if (!isFraming(lower) && !isHopByHop(lower)) return undefined;
  const message = `${quoted(header)} belongs to a single connection and is set by the sender only (RFC 9110 §7.6.1)`;
  return { number: 2210, message, hint: 'remove it' };
}

function reportTwice(
  checking: Checking,
  shape: Shape,
  header: string,
  pointer: string,
  seen: Map<string, string>,
): void {
  const lower = header.toLowerCase();
  const first = seen.get(lower);
  if (first === undefined) {
    seen.set(lower, header);
    return;
  }
  const message = `${quoted(header)} and ${quoted(first)} are the same header`;
  fault(checking, 'duplicate', shape, pointer, message, { at: 'key', hint: 'keep one of them' });
}
