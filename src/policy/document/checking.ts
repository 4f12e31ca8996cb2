import type { Phase } from '../phase.ts';
import type { Report } from './findings.ts';
import type { PolicyText } from './policy_text.ts';
import type { Shape } from './shape.ts';
import type { PolicySetting } from './setting.ts';

/** A text of a config that the expression engine has to look at. */
export interface EngineText {
  readonly reads: 'template' | 'expression';
  readonly pointer: string;
  readonly text: string;
  readonly shape: Shape;
}

/** What the check of one action's config works with. */
export interface Checking {
  readonly policy: PolicyText;
  readonly setting: PolicySetting;
  readonly report: Report;
  /** The action's type as it is called today. */
  readonly type: string;
  readonly phase: Phase;
  /** Texts with expressions, in the order found. */
  readonly texts: EngineText[];
  /** Pointers with today's names of fields that the document calls otherwise. */
  readonly renamed: Map<string, string>;
}
