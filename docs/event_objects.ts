import { writeFileSync } from 'node:fs';
import type { EventField } from '../src/events/field_types.ts';
import { TRAFFIC_EVENTS, type TrafficType, fieldsOf } from '../src/events/fields.ts';

/**
 * Writes the functions that make the JSON of traffic events from their rows in `src/events/fields.ts`. A loop over the rows takes
 * half as long again (docs/decisions/0041).
 */

/** Fields by the next part of their paths. */
type Members = ReadonlyMap<string, EventField | Members>;

function membersOf(rows: readonly (readonly [path: readonly string[], field: EventField])[]): Members {
  const ofFirst = Map.groupBy(rows, ([[first]]) => first!);
  return new Map(
    Array.from(ofFirst, ([first, own]) => {
      const [[path, field]] = own as [(typeof own)[0]];
      return [first, path.length === 1 ? field : membersOf(own.map(([[, ...rest], each]) => [rest, each]))];
    }),
  );
}

/** The formatter divides longer lines. */
const LINE = 110;

const isObject = (member: EventField | Members): member is Members => member instanceof Map;

/** Takes each object with members out of the one around it: V8 would read it again after each call. */
function declarationsOf(members: Members, from: string): string[] {
  const objects = [...members].flatMap(([name, member]) =>
    isObject(member) ? [[name, member] as const] : [],
  );
  if (objects.length === 0) return [];
  const names = objects.map(([name]) => name);
  const line = `  const { ${names.join(', ')} } = ${from};\n`;
  return [
    line.length <= LINE
      ? line
      : `  const {\n${names.map((name) => `    ${name},\n`).join('')}  } = ${from};\n`,
    ...objects.flatMap(([name, member]) => declarationsOf(member, name)),
  ];
}

/** What writes a value of a type in a template. */
function written({ type, isPlain }: EventField, value: string): string {
  switch (type) {
    case 'bool':
    case 'int32':
    case 'int64':
      return `\${${value}}`;
    case 'timestamp':
    case 'decision':
    case 'breaker_decision':
    case 'algorithm':
      return `"\${${value}}"`;
    case 'string':
      return isPlain === true ? `"\${${value}}"` : `\${quoted(${value})}`;
    case 'headers':
      return `\${headersJson(${value})}`;
    case 'logs':
      return `\${logsJson(${value})}`;
  }
}

/** The parts of the template that writes an object, each of them short enough for a line. */
function partsOf(members: Members, from: string): string[] {
  const parts: string[] = [];
  for (const [name, member] of members) {
    const own = isObject(member) ? partsOf(member, name) : [written(member, `${from}.${name}`)];
    own[0] = `${parts.length === 0 ? '{' : ','}"${name}":${own[0]}`;
    parts.push(...own);
  }
  parts.push(`${parts.pop()!}}`);
  return parts;
}

/** `HttpRequestComplete` of `http_request_complete.v0`. */
function typeOf(event: TrafficType): string {
  return event
    .replace(/\.v0$/, '')
    .replaceAll(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

function functionOf(event: TrafficType): string {
  const members = membersOf(fieldsOf(event).map(([path, field]) => [path.split('.'), field]));
  const parts = partsOf(members, 'object').map((part) => `    \`${part}\``);
  const name = typeOf(event);
  return `
/** The JSON text of the \`object\` of \`${event}\`. */
export function ${name[0]!.toLowerCase()}${name.slice(1)}Json(object: ${name}): string {
${declarationsOf(members, 'object').join('')}  return (\n${parts.join(' +\n')}\n  );\n}\n`;
}

/** The text of `src/events/object_json.ts`. */
export function eventObjects(): string {
  const events = Object.keys(TRAFFIC_EVENTS) as TrafficType[];
  return `// Generated from fields.ts by \`npm run generate\`; do not edit.
import type { ${events.map(typeOf).join(', ')} } from './catalogue.ts';
import { headersJson, logsJson, quoted } from './json_values.ts';
${events.map(functionOf).join('')}`;
}

if (import.meta.main) writeFileSync(new URL('../src/events/object_json.ts', import.meta.url), eventObjects());
