import type { Checking } from '../checking.ts';
import type { Shape } from '../shape.ts';

/** The check of a kind of field beyond its JSON type. */
export interface KindCheck {
  /** Reads the whole value instead of the default for its JSON type; undefined if it is invalid. */
  readonly whole?: (checking: Checking, shape: Shape, value: unknown, pointer: string) => unknown;
  /** Checks a string with `${…}`. */
  readonly template?: (checking: Checking, text: string, pointer: string) => void;
  /** Checks a string without `${…}`, and returns whether it is valid. */
  readonly text?: (checking: Checking, shape: Shape, text: string, pointer: string) => boolean;
}
