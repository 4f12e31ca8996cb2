import { pointerTo } from '../diagnostics/diagnostic.ts';
import { adviceOn, wordMeant } from './other_words.ts';
import { meantFix, meantWord, removal } from '../diagnostics/meant.ts';
import { suggest } from '../diagnostics/suggest.ts';
import * as edits from './edits.ts';
import type { ShapeCode } from './codes.ts';
import { isObject } from './misplaced_keys.ts';
import type { More, Report } from '../diagnostics/report.ts';
import { mapRepair, shorthandIn, writes, writesMap } from './map_repairs.ts';
import type { Depart, Departure, Shape } from './shape.ts';
import {
  TYPE_WORDS,
  allOf,
  didYouMean,
  lastKey,
  listed,
  quoted,
  shown,
} from '../diagnostics/message_text.ts';

/**
 * Writes a message for each departure. `elsewhere` has notes on keys that this kind of file does not support,
 * by key or by pointer; `maps` has hints on keys that cannot be maps.
 */
export function reportDepartures(
  report: Report<ShapeCode>,
  elsewhere: Readonly<Record<string, string>> = {},
  maps: Readonly<Record<string, string>> = {},
): Depart {
  return (pointer, departure) => {
    switch (departure.kind) {
      case 'unknown_key':
        return reportUnknownKey(report, pointer, departure, elsewhere);
      case 'missing_keys':
        return reportMissingKeys(report, pointer, departure);
      case 'wrong_type': {
        const { shape, received, meantFor } = departure;
        const message = `${subject(pointer)} has to be ${wanted(shape)}, not ${shown(received)}`;
        const misplaced = meantFor === undefined ? {} : entryHint(meantFor);
        return report('wrong_type', pointer, message, {
          ...repairOf(shape, received, pointer),
          ...misplaced,
          ...(isObject(received) &&
            Object.hasOwn(maps, lastKey(pointer)) && { hint: maps[lastKey(pointer)] }),
        });
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
          isShare ? { hint: `${received} % is ${received / 100}`, fix: writes(String(received / 100)) } : {},
        );
      }
      case 'too_long': {
        const { size, unit, limit } = departure;
        return report('too_long', pointer, `${subject(pointer)} has ${size} ${unit}; the limit is ${limit}`);
      }
      case 'duplicate': {
        const { received } = departure;
        return report('bad_form', pointer, `${subject(pointer)} repeats ${shown(received)}`, {
          fix: removal(true),
        });
      }
      case 'empty':
        return report('empty_value', pointer, `${subject(pointer)} must not be an empty ${departure.of}`, {
          hint: 'add an item, or leave the key out',
        });
      case 'bad_form': {
        const { form, received, shape } = departure;
        const message = `${subject(pointer)} has to be ${form}, not ${shown(received)}`;
        return report('bad_form', pointer, message, meantWord(likeForm(received, shape.pattern)));
      }
      case 'bad_name': {
        const { key, form, shape } = departure;
        return report('bad_name', pointerTo(pointer, key), `${quoted(key)} is not ${form}`, {
          at: 'key',
          ...meantWord(likeForm(key, shape.pattern)),
        });
      }
    }
  };
}

type Of<Kind extends Departure['kind']> = Extract<Departure, { kind: Kind }>;

function reportMissingKeys(
  report: Report<ShapeCode>,
  pointer: string,
  { missing, unknown }: Of<'missing_keys'>,
): void {
  // A missing key that was misspelt has been reported as an unknown key.
  const own = missing.filter(({ key }) => !unknown.some((other) => isMeant(other, key)));
  for (const { key, within } of own)
    if (within !== undefined)
      report('missing_key', pointer, `${quoted(key)} is missing${inside(pointer)}`, {
        at: 'key',
        hint: `it is inside ${quoted(within)}: indent it as ${quoted(within)}`,
      });
  const absent = own.filter(({ within }) => within === undefined);
  if (absent.length === 0) return;
  const keys = absent.map(({ key }) => key);
  const message = `${allOf(keys.map(quoted))} ${keys.length === 1 ? 'is' : 'are'} missing${inside(pointer)}`;
  report('missing_key', pointer, message, {
    at: 'key',
    hint: `add ${allOf(keys)}`,
    notes: absent.flatMap(({ key, shape }) =>
      shape.description === undefined ? [] : [`${key}: ${shape.description}`],
    ),
  });
}

/** Whether an unknown key is a misspelt `key`, what another tool calls it, or the key after a comment of JavaScript. */
function isMeant(other: string, key: string): boolean {
  if (isComment(other)) return other.endsWith(`"${key}"`);
  return (suggest(other, [key]) ?? wordMeant(other, [key]) ?? adviceOn(other, [key])) !== undefined;
}

/** What follows a comment of JavaScript is read as a part of it, also the next key. */
function isComment(key: string): boolean {
  return /^\/[/*]/.test(key);
}

function reportUnknownKey(
  report: Report<ShapeCode>,
  pointer: string,
  { key, known, owner }: Of<'unknown_key'>,
  elsewhere: Readonly<Record<string, string>>,
): void {
  const note = elsewhere[`${pointer}/${key}`] ?? elsewhere[key];
  const advice = note === undefined ? adviceOn(key, known) : undefined;
  const meant =
    suggest(key, known) ?? (note === undefined && advice === undefined ? wordMeant(key, known) : undefined);
  const more: More = {
    at: 'key',
    hint:
      owner === undefined
        ? (didYouMean(meant) ?? advice ?? (isComment(key) ? 'a comment begins with #' : undefined))
        : `indent it deeper: it belongs to ${quoted(owner)}`,
    notes: [...(note === undefined ? [] : [note]), `known keys: ${listed(known)}`],
    fix:
      meant === undefined || owner !== undefined
        ? undefined
        : { message: `rename to ${meant}`, text: meant, safe: false },
  };
  report('unknown_key', pointerTo(pointer, key), `unknown key ${quoted(key)}${inside(pointer)}`, more);
}

function reportUnknownValue(
  report: Report<ShapeCode>,
  pointer: string,
  { allowed, received }: Of<'unknown_value'>,
): void {
  const meant = suggest(received, allowed);
  const only = allowed.length === 1 ? allowed[0] : undefined;
  report('unknown_value', pointer, `${subject(pointer)} cannot be ${quoted(received)}`, {
    hint: didYouMean(meant),
    notes: [`one of: ${listed(allowed)}`],
    fix: meantFix(meant ?? only),
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

/** The cure of a key that belongs inside an entry of a map. */
function entryHint({ entry }: { readonly entry: string | null }): More {
  return entry === null
    ? { hint: 'write a name above it, such as `main:`, and indent it below the name' }
    : { hint: `indent it deeper: it belongs to ${quoted(entry)}` };
}

function wanted(shape: Shape): string {
  if (shape.anyOf === undefined) return TYPE_WORDS[shape.type ?? 'object'];
  return [...new Set(shape.anyOf.map((each) => wanted(each)))].join(' or ');
}

/** The text of a form that is nearest in spelling: in lower case, without a leading `@`, with a scheme, with dashes. */
function likeForm(received: string, pattern: string | undefined): string | undefined {
  if (pattern === undefined || received.length > 200) return undefined;
  const form = new RegExp(pattern);
  const lower = received.toLowerCase();
  const dashed = received.trim().replaceAll(/[^\w.-]+/g, '-');
  return [
    received.trim(),
    lower,
    lower.replace(/^@/, ''),
    `https://${received}`,
    dashed,
    dashed.toLowerCase(),
  ].find((each) => each !== received && form.test(each));
}

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The fix, if one can be derived from the value. */
function repairOf(shape: Shape, received: unknown, pointer: string): More {
  const map = shape.anyOf?.find(({ type }) => type === 'object');
  const meantMap = map === undefined || isObject(received) ? undefined : shorthandIn(map, String(received));
  if (meantMap !== undefined) return writesMap(meantMap);
  if (map?.properties !== undefined && ['number', 'boolean'].includes(typeof received))
    return {
      hint: 'write its keys below it, indented',
      notes: [`its keys: ${listed(Object.keys(map.properties))}`],
    };
  if (shape.type === 'boolean' && typeof received === 'string') {
    const meant = /^(?:yes|on|y|true)$/i.test(received)
      ? 'true'
      : /^(?:no|off|n|false)$/i.test(received)
        ? 'false'
        : null;
    return meant === null ? {} : { hint: `write ${meant}`, fix: writes(meant, received === meant) };
  }
  if (shape.type === 'object' && (received === null || received === undefined)) {
    if (shape.required?.length)
      return { hint: 'write its keys below it, indented', notes: [`it needs: ${shape.required.join(', ')}`] };
    const fix = { message: `write ${lastKey(pointer)}: {}`, safe: false, edit: edits.emptyMap };
    return { hint: `write ${lastKey(pointer)}: {} to use its defaults`, fix };
  }
  if (typeof received === 'number' && /^a duration\b/.test(shape.form ?? ''))
    return { hint: `${received} seconds are ${received}s`, fix: writes(`${received}s`) };
  if (shape.type === 'integer' && typeof received === 'string') {
    const [, count, unit] = /^(\d+)(s|m|h|d)$/.exec(received) ?? [];
    if (count !== undefined) {
      const seconds = Number(count) * SECONDS[unit as 's'];
      return { hint: `write seconds: ${seconds}`, fix: writes(String(seconds)) };
    }
  }
  if (typeof received === 'number' && /\bhost and port\b/.test(shape.description ?? ''))
    return { hint: `write 'localhost:${received}'`, fix: writes(`'localhost:${received}'`) };
  if (shape.type === 'string' && (typeof received === 'number' || typeof received === 'boolean')) {
    return {
      hint: 'put it in quotes',
      fix: { message: 'put it in quotes', safe: true, edit: edits.inQuotes },
    };
  }
  if (shape.type === 'object' && typeof received === 'string' && /^[\w-]+:(?!\d+$)\S/.test(received))
    return { hint: `write a space after the colon: ${received.slice(0, 60).replace(':', ': ')}` };
  if (shape.type === 'object') return mapRepair(shape, received, pointer);
  if (shape.type === 'array' && typeof received === 'string') {
    if (/^-\S/.test(received)) return { hint: 'write a space after each dash' };
    const fix = { message: 'make it a list', safe: false, edit: edits.inBrackets };
    return { hint: 'put it in brackets: [ … ]', fix };
  }
  if (shape.type === 'array' && isObject(received))
    return { hint: 'begin each item with a dash and a space' };
  if (shape.type === 'string') return textRepair(received);
  const percent = /^(\d+(?:\.\d+)?) ?%$/.exec(typeof received === 'string' ? received : '')?.[1];
  if ((shape.type === 'number' || shape.type === 'integer') && percent !== undefined) {
    const number = String(shape.maximum === 1 ? Number(percent) / 100 : Number(percent));
    return { hint: `write ${number}`, fix: writes(number) };
  }
  const isNumber = (shape.type === 'number' || shape.type === 'integer') && typeof received === 'string';
  return isNumber && received.trim() !== '' && Number.isFinite(Number(received))
    ? { hint: 'write it without quotes', fix: writes(received.trim(), true) }
    : {};
}

/** The cure of a value that is not a text: braces of a placeholder without quotes are a map. */
function textRepair(received: unknown): More {
  if (received === null || received === undefined)
    return { hint: "write '' for an empty text, or leave the key out" };
  const [name, ...more] = isObject(received) ? Object.keys(received) : [];
  return name !== undefined &&
    more.length === 0 &&
    (received as Readonly<Record<string, unknown>>)[name] === null
    ? { hint: `put it in quotes: '{${name}}'` }
    : {};
}
