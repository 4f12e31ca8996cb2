import { keysOfMap, lookUp } from './equality.ts';
import { formatDouble } from './numbers.ts';
import { formatDuration, formatTimestamp } from './time.ts';
import {
  Double,
  Duration,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  isList,
  isMap,
} from './values.ts';

/** Maximum characters of a value that is printed alone. */
export const LONGEST_PRINTED = 1_000_000;

/**
 * A value as an expression would write it: `'text'`, `[1, 2u]`, `timestamp('…')`. Long text is cut and ends
 * in `…`: values that share members can be far larger as text than in memory.
 */
export function valueText(value: Value, longest = 2_000): string {
  const writer = { left: longest };
  const text = write(value, writer, 0);
  return writer.left < 0 || text.length > longest ? `${text.slice(0, longest)}…` : text;
}

const DEEPEST = 64;

interface Writer {
  left: number;
}

function write(value: Value, writer: Writer, depth: number): string {
  const before = writer.left;
  if (before <= 0) writer.left = -1;
  const text = before <= 0 || depth > DEEPEST ? '…' : writeValue(value, writer, depth);
  // Members have been counted already.
  writer.left -= Math.max(1, text.length - (before - writer.left));
  return text;
}

/** The members of a list or map, as many as fit. */
function written<Member>(
  members: readonly Member[],
  writer: Writer,
  text: (member: Member) => string,
): string {
  const texts: string[] = [];
  for (const member of members) {
    if (writer.left < 0) break;
    texts.push(text(member));
    writer.left -= 2;
  }
  return texts.join(', ');
}

function writeValue(value: Value, writer: Writer, depth: number): string {
  if (typeof value === 'string') return quoted(value.slice(0, writer.left + 1));
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Double) return doubleText(value.value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Timestamp) return `timestamp('${formatTimestamp(value)}')`;
  if (value instanceof Duration) return `duration('${formatDuration(value)}')`;
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Uint8Array) return bytesText(value.subarray(0, writer.left + 1));
  if (value instanceof Optional) {
    return value.value === undefined
      ? 'optional.none()'
      : `optional.of(${write(value.value, writer, depth + 1)})`;
  }
  if (isList(value)) return `[${written(value, writer, (member) => write(member, writer, depth + 1))}]`;
  return isMap(value) ? mapText(value, writer, depth) : objectText(value, writer, depth);
}

function mapText(map: Parameters<typeof keysOfMap>[0], writer: Writer, depth: number): string {
  const entries = written(keysOfMap(map), writer, (key) => {
    const name = write(key, writer, depth + 1);
    return `${name}: ${write(lookUp(map, key)!, writer, depth + 1)}`;
  });
  return `{${entries}}`;
}

/** A value with fields: as a string if it is one, or as its members. */
function objectText(value: object, writer: Writer, depth: number): string {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return quoted(String(toJSON.call(value)));
  const members = Object.entries(value).filter((entry) => entry[1] !== undefined);
  const member = ([name, of]: [string, unknown]): string =>
    `${name}: ${write(of as Value, writer, depth + 1)}`;
  return `{${written(members, writer, member)}}`;
}

function doubleText(value: number): string {
  const text = formatDouble(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** In single quotes, so that a shell or YAML can take it; control characters are escaped. */
function quoted(text: string): string {
  const json = JSON.stringify(text.toWellFormed());
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function bytesText(bytes: Uint8Array): string {
  const parts = Array.from(bytes, (byte) =>
    byte >= 32 && byte < 127 && byte !== 39 && byte !== 92
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return `b'${parts.join('')}'`;
}
