/**
 * The shape of a value from outside: returns the place of the first part that does not have it, such as
 * `request.headers`, or null.
 */
export type Shape = (value: unknown, place: string) => string | null;

/** Of an object; members that are not named may be anything. */
export function objectOf(members: Readonly<Record<string, Shape>>): Shape {
  const shapes = Object.entries(members);
  return (value, place) => {
    if (!isObject(value)) return place;
    for (const [name, shape] of shapes) {
      const found = shape(value[name], place === '' ? name : `${place}.${name}`);
      if (found !== null) return found;
    }
    return null;
  };
}

/** Of an object whose members all have one shape, whatever their names. */
export function mapOf(shape: Shape): Shape {
  return (value, place) => {
    if (!isObject(value)) return place;
    for (const [name, member] of Object.entries(value)) {
      const found = shape(member, `${place}.${name}`);
      if (found !== null) return found;
    }
    return null;
  };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(shape: Shape): Shape {
  return (value, place) => {
    if (!Array.isArray(value)) return place;
    for (const [index, each] of value.entries()) {
      const found = shape(each, `${place}.${index}`);
      if (found !== null) return found;
    }
    return null;
  };
}

function anyOf(is: (value: unknown) => boolean): Shape {
  return (value, place) => (is(value) ? null : place);
}

export const aText = anyOf((value) => typeof value === 'string');
/** JSON can write numbers that are infinite once they are read. */
export const aNumber = anyOf((value) => Number.isFinite(value));
export const aFlag = anyOf((value) => typeof value === 'boolean');

export function oneOf(...texts: readonly string[]): Shape {
  return anyOf((value) => texts.some((each) => each === value));
}

const texts = listOf(aText);

/** Names and values in turns. */
export const aFieldList: Shape = (value, place) =>
  texts(value, place) ?? ((value as readonly string[]).length % 2 === 0 ? null : place);

export function orNull(shape: Shape): Shape {
  return (value, place) => (value === null ? null : shape(value, place));
}

export function orAbsent(shape: Shape): Shape {
  return (value, place) => (value === undefined ? null : shape(value, place));
}

/** What is wrong with a value that does not have its shape; `place` is empty for the whole. */
export function misshapen(what: string, place: string): string {
  return place === '' ? `${what} is not an object` : `${what} has no '${place}' that can be read`;
}
