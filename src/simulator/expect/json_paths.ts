/** A path into JSON: names after dots, any name in brackets and quotes, indices in brackets. */
const PATH = /^\$(?:\.[\w-]+|\['[^']*'\]|\[\d+\])*$/;
const PART = /\.([\w-]+)|\['([^']*)'\]|\[(\d+)\]/g;

export function isPath(text: string): boolean {
  return PATH.test(text);
}

/** The value at a path; undefined if there is none. */
export function valueAt(data: unknown, path: string): unknown {
  let value = data;
  for (const [, name, quotedName, index] of path.matchAll(PART)) {
    const key = name ?? quotedName ?? Number(index);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[key];
  }
  return value;
}
