import { lastKey, listed } from '../diagnostics/message_text.ts';
import type { More, WantedFix } from '../diagnostics/report.ts';
import * as edits from './edits.ts';
import { isObject } from './misplaced_keys.ts';
import type { Shape } from './shape.ts';

/** Cures of values that are not maps. */

/** The cure of a value that has to be a map. */
export function mapRepair(shape: Shape, received: unknown, pointer: string): More {
  const { properties, required = [] } = shape;
  if (Array.isArray(received)) return listRepair(shape, received);
  if (properties === undefined) return { hint: 'write its entries as key: value' };
  const key = lastKey(pointer);
  const meant = typeof received === 'string' ? mapMeant(shape, received) : undefined;
  if (meant !== undefined) {
    // Which of several words is meant, only the user knows.
    const isSure = /^[\w./:-]+$/.test(received as string) && !meant.includes(' or ');
    const fix = isSure ? writes(meant) : undefined;
    return { hint: `write ${/^\d+$/.test(key) ? '' : `${key}: `}${meant}`, fix };
  }
  const known = listed(Object.keys(properties));
  if (required.length > 0)
    return { hint: 'write its keys below it, indented', notes: [`it needs: ${required.join(', ')}`] };
  if (received === true)
    return { hint: `write ${key}: {} to use its defaults`, notes: [`its keys: ${known}`], fix: writes('{}') };
  const isOff = received === false || /^(?:no|off|none|false)$/i.test(String(received));
  const off = Object.keys(properties).find((each) => properties[each]!.switch);
  if (isOff && off !== undefined) {
    const yaml = `{ ${off}: false }`;
    return { hint: `leave ${key} out, or write ${yaml}`, fix: writes(yaml) };
  }
  return { hint: 'write its keys below it, indented', notes: [`its keys: ${known}`] };
}

function listRepair({ properties, additionalProperties }: Shape, received: readonly unknown[]): More {
  if (properties === undefined) {
    const name = received.map((item) => isObject(item) && item['name']).find(Boolean);
    if (typeof name === 'string')
      return { hint: `write each entry below its name: \`${name}:\` instead of \`- name: ${name}\`` };
    const [first] = received;
    const isNumber = additionalProperties !== false && additionalProperties?.type === 'integer';
    return {
      hint:
        isNumber && typeof first === 'string'
          ? `write a number for each: ${first}: 1`
          : 'write its entries as key: value',
    };
  }
  const lists = Object.keys(properties).filter((key) => properties[key]!.type === 'array');
  const hint = lists.length === 1 ? `write the list below ${lists[0]}:` : 'write its keys below it, indented';
  return { hint, notes: [`its keys: ${listed(Object.keys(properties))}`] };
}

/** The map, as YAML, that a text stands for: its only required key, or the name of one of its keys. */
function mapMeant({ properties = {}, required = [] }: Shape, text: string): string | undefined {
  const own = Object.hasOwn(properties, text) ? properties[text]! : undefined;
  if (own?.type === 'object' && (own.required ?? []).length === 0) return `{ ${text}: {} }`;
  if (required.length === 0) return shorthandIn({ properties }, text);
  const [first, ...others] = required.map((key) => [key, properties[key]!] as const);
  const value = valueMeant(first![1], text);
  const rest = others.map(([key, { enum: words }]) => words && `${key}: ${words.join(' or ')}`);
  if (value === undefined || rest.includes(undefined)) return undefined;
  return `{ ${[`${first![0]}: ${value}`, ...rest].join(', ')} }`;
}

function valueMeant({ type, items, ...shape }: Shape, text: string): string | undefined {
  if (type === 'string') return text;
  if (type === 'array' && items?.type === 'string') return `[${text}]`;
  return type === 'object' ? mapMeant({ type, ...shape }, text) : undefined;
}

/** The map, as YAML, of whose members a scalar is the shorthand of one. */
export function shorthandIn({ properties = {} }: Shape, scalar: string): string | undefined {
  for (const [key, member] of Object.entries(properties)) {
    const match = member.shorthand === undefined ? null : new RegExp(member.shorthand).exec(scalar);
    const value = match === null ? shorthandIn(member, scalar) : (match[1] ?? scalar);
    if (value !== undefined) return `{ ${key}: ${value} }`;
  }
  return undefined;
}

/** The cure of a value that stands for a map. */
export function writesMap(yaml: string): More {
  return { hint: `write ${yaml}`, fix: writes(yaml) };
}

/** The fix that writes a value as YAML. */
export function writes(yaml: string, safe = false): WantedFix {
  return { message: `write ${yaml}`, safe, edit: edits.written(yaml) };
}
