import type { Checking } from '../checking.ts';
import type { Shape } from '../shape.ts';

/** How fields of one kind are checked beyond their JSON type. */
export interface KindCheck {
  /** Reads the whole value in place of the usual way by JSON type; undefined when it departs. */
  readonly whole?: (checking: Checking, shape: Shape, value: unknown, pointer: string) => unknown;
  /** Looks at a text that has no `${…}` in it, and says whether it is sound. */
  readonly text?: (checking: Checking, shape: Shape, text: string, pointer: string) => boolean;
}
