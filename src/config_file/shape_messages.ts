import { pointerTo } from '../diagnostics/diagnostic.ts';
import { suggest } from '../diagnostics/suggest.ts';
import type { ShapeCode } from './codes.ts';
import type { More, Report } from '../diagnostics/report.ts';
import type { Depart, Departure, Shape } from './shape.ts';
import { TYPE_WORDS, didYouMean, lastKey, listed, quoted, shown } from '../diagnostics/message_text.ts';

/**
 * Writes a message for each departure. `elsewhere` has notes on keys that this kind of file does not support,
 * by key or by pointer.
 */
export function reportDepartures(
  report: Report<ShapeCode>,
  elsewhere: Readonly<Record<string, string>> = {},
): Depart {
  return (pointer, departure) => {
    switch (departure.kind) {
      case 'unknown_key':
        return reportUnknownKey(report, pointer, departure, elsewhere);
      case 'missing_key': {
        const { key, shape, unknown } = departure;
        // The missing key was misspelt, and the unknown key has already been reported.
        if (unknown.some((other) => suggest(other, [key]) !== undefined)) return;
        const notes = shape.description === undefined ? [] : [`${key}: ${shape.description}`];
        return report('missing_key', pointer, `${quoted(key)} is missing${inside(pointer)}`, {
          at: 'key',
          notes,
        });
      }
      case 'wrong_type': {
        const { shape, received } = departure;
        const message = `${subject(pointer)} has to be ${wanted(shape)}, not ${shown(received)}`;
        return report('wrong_type', pointer, message, repairOf(shape, received, pointer));
      }
      case 'unknown_value':
        return reportUnknownValue(report, pointer, departure);
      case 'out_of_range': {
        const { shape, received } = departure;
        const message = `${subject(pointer)} has to be from ${shape.minimum} to ${shape.maximum}, not ${received}`;
        const isShare = shape.maximum === 1 && received > 1 && received <= 100;
        return report(
          'out_of_range',
          pointer,
          message,
          isShare ? { hint: `${received} % is ${received / 100}` } : {},
        );
      }
      case 'too_long': {
        const { size, unit, limit } = departure;
        return report('too_long', pointer, `${subject(pointer)} has ${size} ${unit}; the limit is ${limit}`);
      }
      case 'duplicate': {
        const { received } = departure;
        return report('bad_form', pointer, `${subject(pointer)} repeats ${shown(received)}`);
      }
      case 'empty':
        return report('empty_value', pointer, `${subject(pointer)} must not be an empty ${departure.of}`, {
          hint: 'add an item, or leave the key out',
        });
      case 'bad_form': {
        const message = `${subject(pointer)} has to be ${departure.form}, not ${shown(departure.received)}`;
        return report('bad_form', pointer, message);
      }
      case 'bad_name': {
        const { key, form } = departure;
        return report('bad_name', pointerTo(pointer, key), `${quoted(key)} is not ${form}`, {
          at: 'key',
        });
      }
    }
  };
}

type Of<Kind extends Departure['kind']> = Extract<Departure, { kind: Kind }>;

function reportUnknownKey(
  report: Report<ShapeCode>,
  pointer: string,
  { key, known }: Of<'unknown_key'>,
  elsewhere: Readonly<Record<string, string>>,
): void {
  const meant = suggest(key, known);
  const note = elsewhere[`${pointer}/${key}`] ?? elsewhere[key];
  const more: More = {
    at: 'key',
    hint: didYouMean(meant),
    notes: [...(note === undefined ? [] : [note]), `known keys: ${listed(known)}`],
    fix: meant === undefined ? undefined : { message: `rename to ${meant}`, text: meant, safe: false },
  };
  report('unknown_key', pointerTo(pointer, key), `unknown key ${quoted(key)}${inside(pointer)}`, more);
}

function reportUnknownValue(
  report: Report<ShapeCode>,
  pointer: string,
  { allowed, received }: Of<'unknown_value'>,
): void {
  const meant = suggest(received, allowed);
  report('unknown_value', pointer, `${subject(pointer)} cannot be ${quoted(received)}`, {
    hint: didYouMean(meant),
    notes: [`one of: ${listed(allowed)}`],
    fix: meant === undefined ? undefined : { message: `write ${meant}`, text: meant, safe: false },
  });
}

/** The last key of a pointer as the subject of a sentence; for a list item, the name of its list. */
function subject(pointer: string): string {
  const key = lastKey(pointer);
  if (key === '') return 'the configuration';
  if (!/^\d+$/.test(key)) return quoted(key);
  const list = lastKey(pointer.slice(0, pointer.lastIndexOf('/')));
  return `item ${Number(key) + 1} of ${quoted(list)}`;
}

function inside(pointer: string): string {
  return pointer === '' ? ' at the top of the file' : ` in ${subject(pointer)}`;
}

function wanted(shape: Shape): string {
  if (shape.anyOf === undefined) return TYPE_WORDS[shape.type ?? 'object'];
  return [...new Set(shape.anyOf.map((each) => wanted(each)))].join(' or ');
}

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The fix, if one can be derived from the value. */
function repairOf(shape: Shape, received: unknown, pointer: string): More {
  if (shape.type === 'boolean' && typeof received === 'string') {
    const meant = /^(?:yes|on|y|true)$/i.test(received)
      ? 'true'
      : /^(?:no|off|n|false)$/i.test(received)
        ? 'false'
        : null;
    return meant === null ? {} : { hint: `write ${meant}` };
  }
  if (shape.type === 'object' && (received === null || received === undefined)) {
    const hint = shape.required?.length ? undefined : `write ${lastKey(pointer)}: {} to use its defaults`;
    return { hint, ...(shape.required?.length && { notes: [`it needs: ${shape.required.join(', ')}`] }) };
  }
  if (typeof received === 'number' && /^a duration\b/.test(shape.form ?? ''))
    return { hint: `${received} seconds are ${received}s` };
  if (shape.type === 'integer' && typeof received === 'string') {
    const [, count, unit] = /^(\d+)(s|m|h|d)$/.exec(received) ?? [];
    if (count !== undefined) return { hint: `write seconds: ${Number(count) * SECONDS[unit as 's']}` };
  }
  if (shape.type === 'string' && (typeof received === 'number' || typeof received === 'boolean')) {
    return { hint: 'put it in quotes' };
  }
  if (shape.type === 'object' && Array.isArray(received)) return { hint: 'write its entries as key: value' };
  if (shape.type === 'array' && typeof received === 'string') return { hint: 'put it in brackets: [ … ]' };
  const isNumber = (shape.type === 'number' || shape.type === 'integer') && typeof received === 'string';
  return isNumber && received.trim() !== '' && Number.isFinite(Number(received))
    ? { hint: 'write it without quotes' }
    : {};
}
