import { stringify } from 'yaml';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { allOf, didYouMean, quoted, shown } from '../../diagnostics/message_text.ts';
import type { Depart, Departure, Extension, MissingKey } from '../../config_file/shape.ts';
import { shapedWith } from '../../config_file/validate.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import type { Checking } from './checking.ts';
import { LEFT, fault, wrongType } from './faults.ts';
import { KINDS } from './kinds/index.ts';
import { renameKey, rewordValue } from './repairs.ts';
import { numberOf } from './shape.ts';
import type { Shape } from './shape.ts';
import { fieldName, listed } from './message_text.ts';

export type Entries = Readonly<Record<string, unknown>>;

export function isEntries(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Validates a value against its shape, reports all faults, and returns it with aliases resolved and defaults
 * filled in. Invalid parts are left out, so that the valid rest can be checked further.
 */
export function readValue(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  return shapedWith(extensionOf(checking), shape, value, pointer, departuresTo(checking));
}

/** The keywords of actions: kinds, templates, secrets, former names. */
function extensionOf(checking: Checking): Extension<Shape> {
  return {
    isNullAbsent: true,
    reader: (shape) => {
      const { kind, fixed, choices, itemOrList } = shape;
      const whole = kind && KINDS[kind].whole;
      if (whole !== undefined) return (value, pointer) => whole(checking, shape, value, pointer);
      if (fixed !== undefined) return (value, pointer) => readFixed(checking, fixed, value, pointer);
      if (choices !== undefined)
        return (value, pointer) => readChoice(checking, shape, choices, value, pointer);
      return itemOrList && ((value, pointer) => readItemOrList(checking, shape, value, pointer));
    },
    fieldNames: (shape, value, pointer) =>
      (shape.aliases ?? shape.synonyms) && otherNames(checking, shape, value, pointer),
    isDeferred: (shape, text, pointer) => {
      if (shape.template !== true) return false;
      checking.texts.push({ reads: 'template', pointer, text, shape });
      if (!text.includes('${')) return false;
      if (shape.kind !== undefined) KINDS[shape.kind].template?.(checking, text, pointer);
      return true;
    },
    text: (shape, text, pointer) => {
      if (shape.enumAnyCase !== undefined) return text.toLowerCase();
      if (shape.kind !== undefined && KINDS[shape.kind].text?.(checking, shape, text, pointer) === false)
        return LEFT;
      if (shape.secret === true) reportClearSecret(checking, shape, pointer);
      return text;
    },
  };
}

function readFixed(checking: Checking, fixed: number, value: unknown, pointer: string): unknown {
  if (value === fixed) return value;
  const message = `${quoted(fieldName(pointer))} is always ${fixed} and set by the service; it cannot be configured`;
  checking.report(2219, pointer, message, { at: 'key', hint: 'omit it' });
  return LEFT;
}

function readChoice(
  checking: Checking,
  shape: Shape,
  choices: readonly number[],
  value: unknown,
  pointer: string,
): unknown {
  if (typeof value !== 'number') return wrongType(checking, { ...shape, type: 'integer' }, value, pointer);
  if (choices.includes(value)) return value;
  const message = `${quoted(fieldName(pointer))} has to be one of ${choices.join(', ')}, not ${value}`;
  const nearest = choices.toSorted((one, other) => Math.abs(one - value) - Math.abs(other - value))[0];
  fault(checking, 'choice', shape, pointer, message, { hint: `the nearest is ${nearest}` });
  return LEFT;
}

function readItemOrList(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  const { itemOrList: _, ...list } = shape;
  if (!isEntries(value)) return readValue(checking, list, value, pointer);
  checking.renamed.set(pointerTo(pointer, 0), pointer);
  return [readValue(checking, list.items!, value, pointer)];
}

/** The fields that keys with former or other names mean. Of two keys for one field the current name counts. */
function otherNames(
  checking: Checking,
  { aliases, synonyms }: Shape,
  value: Entries,
  pointer: string,
): ReadonlyMap<string, string | null> {
  const names: Readonly<Record<string, string>> = { ...aliases, ...synonyms };
  const fields = new Map<string, string | null>();
  const written = new Map<string, string>();
  for (const key of Object.keys(value)) {
    const field = Object.hasOwn(names, key) ? names[key]! : key;
    const at = pointerTo(pointer, key);
    const first = written.get(field);
    if (first !== undefined) {
      const message = `${quoted(key)} and ${quoted(first)} are the same field`;
      checking.report(2203, at, message, { at: 'key', hint: 'keep one of them' });
    } else if (Object.hasOwn(aliases ?? {}, key)) {
      const message = `${quoted(key)} is now called ${quoted(field)}`;
      const fix = Object.hasOwn(value, field) ? undefined : renameKey(checking.policy, at, field, true);
      checking.report('policy.legacy_name', at, message, { at: 'key', hint: `write ${field}`, fix });
    }
    if (first === undefined || field === key) written.set(field, key);
    if (first !== undefined) fields.set(field === key ? first : key, null);
    else if (field !== key) fields.set(key, field);
  }
  for (const [field, key] of written)
    if (field !== key) checking.renamed.set(pointerTo(pointer, field), pointerTo(pointer, key));
  return fields;
}

function reportClearSecret(checking: Checking, shape: Shape, pointer: string): void {
  const name = quoted(fieldName(pointer));
  const lookUp = "${secrets.get('vault', 'name')}";
  const hint = shape.kind === 'credential' ? `write user:${lookUp}` : `write ${lookUp}`;
  checking.report('policy.clear_secret', pointer, `${name} is in clear text here`, {
    hint,
  });
}

type Of<Kind extends Departure['kind']> = Extract<Departure<Shape>, { kind: Kind }>;

/** Reports departures under the numbers of the service. */
function departuresTo(checking: Checking): Depart<Shape> {
  return (pointer, departure) => {
    const name = quoted(fieldName(pointer));
    switch (departure.kind) {
      case 'unknown_key':
        return reportUnknownKey(checking, departure, pointer);
      case 'missing_keys':
        return reportMissing(checking, departure, pointer);
      case 'wrong_type':
        wrongType(checking, departure.shape, departure.received, pointer);
        return;
      case 'unknown_value':
        return reportUnknownChoice(checking, departure, pointer);
      case 'out_of_range':
        return reportRange(checking, departure, pointer);
      case 'too_long':
        return reportTooLong(checking, departure, pointer);
      case 'empty':
        return fault(checking, 'empty', departure.shape, pointer, `${name} must not be empty`, {
          hint: departure.of === 'list' ? 'add an entry' : hintForText(departure.shape),
        });
      case 'duplicate': {
        const list = quoted(fieldName(pointer.slice(0, pointer.lastIndexOf('/'))));
        const message = `${shown(departure.received)} is more than once in ${list}`;
        return fault(checking, 'duplicate', departure.shape, pointer, message, { hint: 'remove this one' });
      }
      case 'bad_form': {
        const { form, received, shape } = departure;
        const message = `${name} has to be ${form}, not ${shown(received)}`;
        return fault(checking, 'form', shape, pointer, message, { hint: `write ${form}` });
      }
      case 'bad_name': {
        const message = `${quoted(departure.key)} cannot be used as a key`;
        return checking.report(2203, pointerTo(pointer, departure.key), message, { at: 'key' });
      }
    }
  };
}

function hintForText(shape: Shape): string {
  return shape.default === undefined ? 'write a string' : 'write a string, or omit it';
}

function reportUnknownKey(checking: Checking, { key, known }: Of<'unknown_key'>, pointer: string): void {
  const at = pointerTo(pointer, key);
  const { fieldHints = {} } = ACTION_FACTS.get(checking.type)!;
  const hint = Object.hasOwn(fieldHints, key) ? fieldHints[key] : undefined;
  const meant = hint === undefined ? suggest(key, known) : undefined;
  checking.report(2203, at, `${quoted(checking.type)} has no field ${quoted(fieldName(at))}`, {
    at: 'key',
    hint: hint ?? didYouMean(meant),
    notes: [known.length === 0 ? 'it has no fields' : `its fields: ${listed(known)}`],
    fix: meant === undefined ? undefined : renameKey(checking.policy, at, meant, false),
  });
}

/** One finding for all keys that are absent under one number of the service, with what they mean and an example. */
function reportMissing(checking: Checking, { missing, unknown }: Of<'missing_keys'>, pointer: string): void {
  const nameOf = ({ key }: MissingKey<Shape>) => quoted(fieldName(pointerTo(pointer, key)));
  for (const each of missing) {
    if (!each.isNull) continue;
    const message = `${quoted(checking.type)} needs ${nameOf(each)}, which is empty here`;
    const more = { at: 'key', hint: `add ${each.key}`, notes: meaningOf(each) } as const;
    checking.report(numberOf('missing', each.shape), pointerTo(pointer, each.key), message, more);
  }
  const absent = Map.groupBy(
    // A field that was misspelt is reported as an unknown one.
    missing.filter(({ key, isNull }) => !isNull && !unknown.some((other) => suggest(other, [key]) === key)),
    ({ shape }) => numberOf('missing', shape),
  );
  for (const [number, own] of absent) {
    const isWhole = pointer.endsWith('/config') && own.length > 1;
    checking.report(number, pointer, `${quoted(checking.type)} needs ${allOf(own.map(nameOf))}`, {
      at: 'key',
      hint: `add ${allOf(own.map(({ key }) => key))}`,
      notes: [...own.flatMap(meaningOf), ...(isWhole ? exampleOf(checking) : [])],
    });
  }
}

function meaningOf({ key, shape }: MissingKey<Shape>): readonly string[] {
  return shape.description === undefined ? [] : [`${key}: ${shape.description}`];
}

/** A config that works, as it is written on one line. */
function exampleOf({ type }: Checking): readonly string[] {
  const [first] = ACTION_FACTS.get(type)!.examples.good;
  if (first === undefined) return [];
  const text = stringify({ config: first }, { collectionStyle: 'flow', lineWidth: 0 });
  return [
    `an example: ${text
      .trim()
      .replaceAll(/\s+/g, ' ')
      .replace(/^\{ (.*) \}$/, '$1')}`,
  ];
}

function reportRange(checking: Checking, { shape, received }: Of<'out_of_range'>, pointer: string): void {
  const { minimum = -Infinity, maximum = Infinity } = shape;
  const message = `${quoted(fieldName(pointer))} has to be from ${minimum} to ${maximum}, not ${received}`;
  const isPercent = shape.type === 'number' && received > 1 && received <= 100;
  const hint = isPercent
    ? `a share: ${received / 100}?`
    : `the nearest is ${received < minimum ? minimum : maximum}`;
  fault(checking, 'range', shape, pointer, message, { hint });
}

function reportTooLong(
  checking: Checking,
  { shape, unit, size, limit }: Of<'too_long'>,
  pointer: string,
): void {
  const message = `${quoted(fieldName(pointer))} has ${size} ${unit}`;
  const hint = `at most ${limit} are allowed`;
  if (unit === 'entries') fault(checking, 'too_many', shape, pointer, message, { at: 'key', hint });
  else fault(checking, 'too_long', shape, pointer, message, { hint });
}

/** Alternative spellings of choices. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['brotli', 'br'],
  ['zstandard', 'zstd'],
  ['zlib', 'deflate'],
  ['stop', 'halt'],
  ['fail', 'halt'],
  ['ignore', 'continue'],
  ['tls1_2', '1.2'],
  ['tls1_3', '1.3'],
]);
const FEW = 8;

function reportUnknownChoice(
  checking: Checking,
  { shape, allowed, received }: Of<'unknown_value'>,
  pointer: string,
): void {
  const lower = received.toLowerCase();
  const synonym = SYNONYMS.get(lower);
  const meant =
    allowed.find((word) => word.toLowerCase() === lower) ??
    (synonym !== undefined && allowed.includes(synonym)
      ? synonym
      : (suggest(received, allowed) ?? allowed.find((word) => lower.startsWith(`${word}_`))));
  fault(checking, 'choice', shape, pointer, `${quoted(fieldName(pointer))} cannot be ${quoted(received)}`, {
    hint:
      didYouMean(meant) ??
      (allowed.length > FEW ? 'choose one of the known values' : `one of ${listed(allowed)}`),
    notes: allowed.length > FEW || meant !== undefined ? [`one of: ${listed(allowed)}`] : [],
    fix: meant === undefined ? undefined : rewordValue(checking.policy, pointer, meant, false),
  });
}
