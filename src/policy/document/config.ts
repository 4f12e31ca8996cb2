import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, quoted, shown } from '../../document/words.ts';
import type { Checking } from './checking.ts';
import { LEFT, fault, wrongType } from './faults.ts';
import { KINDS } from './kinds/index.ts';
import { renameKey, rewordValue } from './repairs.ts';
import { numberOf } from './shape.ts';
import type { Shape } from './shape.ts';
import { fieldName, listed } from './words.ts';

export type Entries = Readonly<Record<string, unknown>>;

export function isEntries(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Compares a value with its shape, tells everything that is wrong with it, and gives it with aliases resolved and
 * defaults filled in. What departs is left out, so that the sound rest can be checked further.
 */
export function readValue(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  // The reader has told why it is no value.
  if (typeof value === 'symbol') return LEFT;
  const kind = shape.kind === undefined ? undefined : KINDS[shape.kind];
  if (kind?.whole !== undefined) return kind.whole(checking, shape, value, pointer);
  if (shape.fixed !== undefined) return readFixed(checking, shape.fixed, value, pointer);
  if (shape.choices !== undefined) return readChoice(checking, shape, shape.choices, value, pointer);
  switch (shape.type) {
    case 'object':
      return readObject(checking, shape, value, pointer);
    case 'array':
      return readList(checking, shape, value, pointer);
    case 'string':
      return readText(checking, shape, value, pointer);
    case 'boolean':
      return typeof value === 'boolean' ? value : wrongType(checking, shape, value, pointer);
    case 'integer':
    case 'number':
      return readNumber(checking, shape, value, pointer);
    case undefined:
      break;
  }
  return value;
}

function readFixed(checking: Checking, fixed: number, value: unknown, pointer: string): unknown {
  if (value === fixed) return value;
  const says = `${quoted(fieldName(pointer))} is set by the service, always to ${fixed}; it cannot be configured`;
  checking.report(2219, pointer, says, { at: 'key', hint: 'leave it out' });
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
  const says = `${quoted(fieldName(pointer))} has to be one of ${choices.join(', ')}, not ${value}`;
  const nearest = choices.toSorted((one, other) => Math.abs(one - value) - Math.abs(other - value))[0];
  fault(checking, 'choice', shape, pointer, says, { hint: `the nearest is ${nearest}` });
  return LEFT;
}

function readObject(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  if (shape.properties === undefined) return readMap(checking, shape, value, pointer);
  let given = value;
  let at = pointer;
  if (shape.listOfOne === true && Array.isArray(value) && value.length === 1) {
    given = value[0];
    at = pointerTo(pointer, 0);
    checking.renamed.set(pointer, at);
  }
  if (!isEntries(given)) return wrongType(checking, shape, given, at);
  return readRecord(checking, shape, shape.properties, given, at);
}

/** An object of known fields, some of which may have an older name. */
function readRecord(
  checking: Checking,
  shape: Shape,
  properties: Readonly<Record<string, Shape>>,
  value: Entries,
  pointer: string,
): Entries {
  const known = Object.keys(properties);
  const written = namesOf(checking, shape, known, value, pointer);
  const result: Record<string, unknown> = {};
  for (const key of known) {
    const field = properties[key]!;
    const name = written.get(key);
    const at = pointerTo(pointer, name ?? key);
    if (name !== undefined && name !== key) checking.renamed.set(pointerTo(pointer, key), at);
    const given = name === undefined ? undefined : value[name];
    // `key:` with nothing after it is the same as no key at all.
    if (given !== undefined && given !== null) result[key] = readValue(checking, field, given, at);
    else if (field.default !== undefined) result[key] = structuredClone(field.default);
    else if (shape.required?.includes(key)) missing(checking, field, key, pointer, name !== undefined);
  }
  return result;
}

/** Which key of the document stands for which field; unknown and doubled ones are told. */
function namesOf(
  checking: Checking,
  shape: Shape,
  known: readonly string[],
  value: Entries,
  pointer: string,
): Map<string, string> {
  const written = new Map<string, string>();
  const aliases = shape.aliases ?? {};
  for (const key of Object.keys(value)) {
    const field = Object.hasOwn(aliases, key) ? aliases[key]! : key;
    if (!known.includes(field)) {
      if (shape.additionalProperties === false) unknownKey(checking, known, key, pointer);
      continue;
    }
    if (written.has(field)) {
      const says = `${quoted(key)} and ${quoted(written.get(field)!)} are the same field`;
      checking.report(2203, pointerTo(pointer, key), says, { at: 'key', hint: 'keep one of them' });
    } else if (field !== key) {
      const at = pointerTo(pointer, key);
      const says = `${quoted(key)} is called ${quoted(field)} today`;
      const fix = Object.hasOwn(value, field) ? undefined : renameKey(checking.policy, at, field, true);
      checking.report('policy.legacy_name', at, says, { at: 'key', hint: `write ${field}`, fix });
    }
    if (!written.has(field) || field === key) written.set(field, key);
  }
  return written;
}

function unknownKey(checking: Checking, known: readonly string[], key: string, pointer: string): void {
  const at = pointerTo(pointer, key);
  const meant = suggest(key, known);
  checking.report(2203, at, `${quoted(checking.type)} has no field ${quoted(fieldName(at))}`, {
    at: 'key',
    hint: didYouMean(meant),
    notes: [known.length === 0 ? 'it has no fields' : `its fields here: ${listed(known)}`],
    fix: meant === undefined ? undefined : renameKey(checking.policy, at, meant, false),
  });
}

function missing(checking: Checking, field: Shape, key: string, pointer: string, isNull: boolean): void {
  const name = fieldName(pointerTo(pointer, key));
  const says = `${quoted(checking.type)} needs ${quoted(name)}${isNull ? ', which is empty here' : ''}`;
  const notes = field.description === undefined ? [] : [`${key}: ${field.description}`];
  const at = isNull ? pointerTo(pointer, key) : pointer;
  checking.report(numberOf('missing', field), at, says, { at: 'key', hint: `add ${key}`, notes });
}

/** An object of any keys. */
function readMap(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  if (!isEntries(value)) return wrongType(checking, shape, value, pointer);
  const item = shape.additionalProperties || {};
  const result: Record<string, unknown> = {};
  for (const [key, given] of Object.entries(value)) {
    result[key] = readValue(checking, item, given, pointerTo(pointer, key));
  }
  return result;
}

function readList(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  if (!Array.isArray(value)) return wrongType(checking, shape, value, pointer);
  const name = quoted(fieldName(pointer));
  if (value.length < (shape.minItems ?? 0)) {
    fault(checking, 'empty', shape, pointer, `${name} must not be empty`, { hint: 'add an entry' });
  } else if (value.length > (shape.maxItems ?? Infinity)) {
    const says = `${name} has ${value.length} entries`;
    const hint = `at most ${shape.maxItems} are allowed`;
    fault(checking, 'too_many', shape, pointer, says, { at: 'key', hint });
  }
  const items = value.map((item, index) =>
    readValue(checking, shape.items ?? {}, item, pointerTo(pointer, index)),
  );
  if (shape.uniqueItems === true) tellDuplicates(checking, shape, items, pointer);
  return items;
}

function tellDuplicates(checking: Checking, shape: Shape, items: readonly unknown[], pointer: string): void {
  const seen = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    if (item === LEFT) continue;
    const first = seen.get(item);
    if (first === undefined) {
      seen.set(item, index);
      continue;
    }
    const says = `${shown(item)} stands in ${quoted(fieldName(pointer))} more than once`;
    fault(checking, 'duplicate', shape, pointerTo(pointer, index), says, { hint: 'leave this one out' });
  }
}

function readNumber(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  if (typeof value !== 'number' || !Number.isFinite(value)) return wrongType(checking, shape, value, pointer);
  if (shape.type === 'integer' && !Number.isInteger(value)) return wrongType(checking, shape, value, pointer);
  const { minimum = -Infinity, maximum = Infinity } = shape;
  if (value >= minimum && value <= maximum) return value;
  const says = `${quoted(fieldName(pointer))} has to be from ${minimum} to ${maximum}, not ${value}`;
  const nearest = value < minimum ? minimum : maximum;
  const hint = shape.type === 'number' && value > 1 && value <= 100 ? `a share: ${value / 100}?` : undefined;
  fault(checking, 'range', shape, pointer, says, { hint: hint ?? `the nearest is ${nearest}` });
  return LEFT;
}

/** A text: type, choices, length and form, then what its kind asks for. */
function readText(checking: Checking, shape: Shape, value: unknown, pointer: string): unknown {
  if (typeof value !== 'string') return wrongType(checking, shape, value, pointer);
  const allowed = shape.enum ?? shape.enumAnyCase;
  if (allowed !== undefined) {
    const word = shape.enumAnyCase === undefined ? value : value.toLowerCase();
    return allowed.includes(word) ? word : unknownChoice(checking, shape, allowed, value, pointer);
  }
  if (value === '' && (shape.minLength ?? 0) > 0) {
    const hint = shape.default === undefined ? 'write a text' : 'write a text, or leave it out';
    fault(checking, 'empty', shape, pointer, `${quoted(fieldName(pointer))} must not be empty`, { hint });
    return LEFT;
  }
  if (shape.template === true) checking.texts.push({ reads: 'template', pointer, text: value, shape });
  const isLiteral = shape.template !== true || !value.includes('${');
  if (!isLiteral) return value;
  const length = value.length > (shape.maxLength ?? Infinity) ? Array.from(value).length : value.length;
  if (length > (shape.maxLength ?? Infinity)) {
    const says = `${quoted(fieldName(pointer))} has ${length} characters`;
    fault(checking, 'too_long', shape, pointer, says, { hint: `at most ${shape.maxLength} are allowed` });
    return LEFT;
  }
  if (shape.pattern !== undefined && !new RegExp(shape.pattern).test(value)) {
    const says = `${quoted(fieldName(pointer))} has to be ${shape.form ?? shape.pattern}, not ${shown(value)}`;
    fault(checking, 'form', shape, pointer, says, { hint: `write ${shape.form ?? shape.pattern}` });
    return LEFT;
  }
  if (shape.kind !== undefined && KINDS[shape.kind].text?.(checking, shape, value, pointer) === false)
    return LEFT;
  if (shape.secret === true) tellClearSecret(checking, shape, pointer);
  return value;
}

function tellClearSecret(checking: Checking, shape: Shape, pointer: string): void {
  const name = quoted(fieldName(pointer));
  const lookUp = "${secrets.get('vault', 'name')}";
  const hint = shape.kind === 'credential' ? `write user:${lookUp}` : `write ${lookUp}`;
  checking.report(
    'policy.clear_secret',
    pointer,
    `${name} stands here in clear, for everybody who reads the file`,
    {
      hint,
    },
  );
}

/** Words for choices that are spelt otherwise here. */
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

function unknownChoice(
  checking: Checking,
  shape: Shape,
  allowed: readonly string[],
  value: string,
  pointer: string,
): undefined {
  const lower = value.toLowerCase();
  const synonym = SYNONYMS.get(lower);
  const meant =
    allowed.find((word) => word.toLowerCase() === lower) ??
    (synonym !== undefined && allowed.includes(synonym) ? synonym : suggest(value, allowed));
  fault(checking, 'choice', shape, pointer, `${quoted(fieldName(pointer))} cannot be ${quoted(value)}`, {
    hint:
      didYouMean(meant) ??
      (allowed.length > FEW ? 'choose one of the known ones' : `one of ${listed(allowed)}`),
    notes: allowed.length > FEW || meant !== undefined ? [`one of: ${listed(allowed)}`] : [],
    fix: meant === undefined ? undefined : rewordValue(checking.policy, pointer, meant, false),
  });
  return LEFT;
}
