import { keysOfMap, lookUp } from '../expression/equality.ts';
import { formatDouble } from '../expression/numbers.ts';
import { formatDuration, formatTimestamp } from '../expression/time.ts';
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
} from '../expression/values.ts';

/** A value as an expression would write it: `'text'`, `[1, 2u]`, `timestamp('…')`. Long ones are cut. */
export function valueText(value: Value, longest = 2_000): string {
  const writer = { left: longest };
  const text = write(value, writer, 0);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function write(value: Value, writer: { left: number }, depth: number): string {
  if (writer.left <= 0 || depth > 64) return '…';
  const text = writeValue(value, writer, depth);
  writer.left -= text.length;
  return text;
}

function writeValue(value: Value, writer: { left: number }, depth: number): string {
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
  if (isList(value)) return `[${value.map((member) => write(member, writer, depth + 1)).join(', ')}]`;
  return isMap(value) ? mapText(value, writer, depth) : objectText(value, writer, depth);
}

function mapText(map: Parameters<typeof keysOfMap>[0], writer: { left: number }, depth: number): string {
  const entries = keysOfMap(map).map((key) => {
    const name = write(key, writer, depth + 1);
    return `${name}: ${write(lookUp(map, key)!, writer, depth + 1)}`;
  });
  return `{${entries.join(', ')}}`;
}

/** A value with fields: the string that it is, or its members. */
function objectText(value: object, writer: { left: number }, depth: number): string {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return quoted(String(toJSON.call(value)));
  const members = Object.entries(value).filter((entry) => entry[1] !== undefined);
  return `{${members.map(([name, member]) => `${name}: ${write(member as Value, writer, depth + 1)}`).join(', ')}}`;
}

function doubleText(value: number): string {
  const text = formatDouble(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** In single quotes, so that a shell or YAML can take it; controls as escapes. */
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
