import type { Phase } from '../../filters/phase.ts';
import type { Report } from './findings.ts';
import type { PolicyText } from './policy_text.ts';
import type { Shape } from './shape.ts';
import type { PolicySetting } from './setting.ts';

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
