import type { Phase } from '../../filters/phase.ts';
import type { Report } from './findings.ts';
import type { PolicyText } from './policy_text.ts';
import type { PolicySetting } from './setting.ts';
import type { Shape } from './shape.ts';

/** A string of a config that the expression engine checks. */
export interface EngineText {
  readonly reads: 'template' | 'expression';
  readonly pointer: string;
  readonly text: string;
  readonly shape: Shape;
}

/** The state of the check of one action's config. */
export interface Checking {
  readonly policy: PolicyText;
  readonly setting: PolicySetting;
  readonly report: Report;
  /** The current name of the action's type. */
  readonly type: string;
  readonly phase: Phase;
  /** Strings with expressions, in the order found. */
  readonly texts: EngineText[];
  /** Pointers with current field names, by those used in the document. */
  readonly renamed: Map<string, string>;
}

/** The check of a kind of field beyond its JSON type. */
export interface KindCheck {
  /** Reads the whole value instead of the default for its JSON type; undefined if it is invalid. */
  readonly whole?: (checking: Checking, shape: Shape, value: unknown, pointer: string) => unknown;
  /** Checks a string with `${…}`. */
  readonly template?: (checking: Checking, text: string, pointer: string) => void;
  /** Checks a string without `${…}`, and returns whether it is valid. */
  readonly text?: (checking: Checking, shape: Shape, text: string, pointer: string) => boolean;
}
