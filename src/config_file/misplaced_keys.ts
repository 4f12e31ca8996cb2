import type { Shape } from './shape.ts';

/** Where keys of a map with a wrong indentation belong. */

type Map = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.prototype.toString.call(value) === '[object Object]'
  );
}

/** The key without a value that an unknown key beside it belongs to. */
export function ownerOf(
  key: string,
  properties: Readonly<Record<string, Shape>>,
  value: Map,
): string | undefined {
  const takes = (shape: Shape): boolean =>
    shape.anyOf?.some(takes) === true || Object.hasOwn(shape.properties ?? {}, key);
  return Object.keys(value).find(
    (other) => value[other] === null && Object.hasOwn(properties, other) && takes(properties[other]!),
  );
}

/** The key beside a missing one that contains it. */
export function ownerWith(key: string, value: Map): string | undefined {
  return Object.keys(value).find((other) => {
    const inner = value[other];
    return isObject(inner) && Object.hasOwn(inner, key);
  });
}

/** The last entry of a map above a key that is not one. */
export function entryAbove(map: Map, key: string): { readonly entry: string | null } {
  const keys = Object.keys(map);
  return { entry: keys.slice(0, keys.indexOf(key)).findLast((each) => isObject(map[each])) ?? null };
}
