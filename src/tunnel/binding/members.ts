import type { Diagnostic } from '../../diagnostics/diagnostic.ts';

/**
 * The members of an object that an agent sent, by names in any case: SDKs spell some differently. A member of
 * another type counts as absent.
 */
export class Members {
  readonly #byName = new Map<string, unknown>();
  /** The object as it was sent. */
  readonly value: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    this.value = isObject(value) ? value : {};
    for (const [name, member] of Object.entries(this.value)) this.#byName.set(name.toLowerCase(), member);
  }

  text(name: string): string {
    const member = this.#byName.get(name.toLowerCase());
    return typeof member === 'string' ? member : '';
  }

  /** Null if it is absent or null. */
  textOrNull(name: string): string | null {
    const member = this.#byName.get(name.toLowerCase());
    return typeof member === 'string' ? member : null;
  }

  number(name: string): number {
    const member = this.#byName.get(name.toLowerCase());
    return typeof member === 'number' && Number.isFinite(member) ? member : 0;
  }

  flag(name: string): boolean {
    return this.#byName.get(name.toLowerCase()) === true;
  }

  texts(name: string): string[] {
    const member = this.#byName.get(name.toLowerCase());
    return Array.isArray(member) ? member.filter((each) => typeof each === 'string') : [];
  }

  list(name: string): Members[] {
    const member = this.#byName.get(name.toLowerCase());
    return Array.isArray(member) ? member.map((each) => new Members(each)) : [];
  }

  /** Null if it is absent or null. */
  object(name: string): Members | null {
    const member = this.#byName.get(name.toLowerCase());
    return isObject(member) ? new Members(member) : null;
  }

  isTextOrAbsent(name: string): boolean {
    const member = this.#byName.get(name.toLowerCase()) ?? null;
    return member === null || typeof member === 'string';
  }

  isListOrAbsent(name: string): boolean {
    const member = this.#byName.get(name.toLowerCase()) ?? null;
    return member === null || Array.isArray(member);
  }

  /** Whether all elements of a list, if there is one, are texts or objects. */
  hasOnly(name: string, of: 'texts' | 'objects'): boolean {
    const member = this.#byName.get(name.toLowerCase());
    const isOne = (each: unknown) => (of === 'texts' ? typeof each === 'string' : isObject(each));
    return !Array.isArray(member) || member.every(isOne);
  }

  /** The members that are texts. */
  map(name: string): Record<string, string> {
    const entries = Object.entries(this.object(name)?.value ?? {});
    return Object.fromEntries(
      entries.filter((each): each is [string, string] => typeof each[1] === 'string'),
    );
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A refusal of a call, with the number of the service's error code. */
export interface Refusal {
  readonly number: number;
  readonly message: string;
  /** What is wrong with the options of a bind, at its place in the configuration that they become. */
  readonly findings?: readonly Diagnostic[];
}

export function isRefusal(answer: object): answer is Refusal {
  return 'number' in answer && 'message' in answer;
}
