import type { ActionOf } from '../../filters/action.ts';
import type { Source, Span } from '../../diagnostics/diagnostic.ts';
import type { ActionType } from '../../filters/action_schemas.ts';
import type { Phase } from '../../filters/phase.ts';
import type { TextMap } from './text_map.ts';

/** The place of a value in a document. Offsets are those of the outermost file. */
export interface Place {
  readonly span: Span;
  /** For a string: the place of each part of it. */
  readonly map?: TextMap;
}

interface RuleExpression {
  readonly text: string;
  readonly pointer: string;
}

/** One action: its type determines the shape of its config, with defaults filled in and aliases resolved. */
export type Action = { readonly [T in ActionType]: ActionOf<T> }[ActionType];

export interface Rule {
  readonly phase: Phase;
  /** Position in its phase, from 0. */
  readonly index: number;
  /** As written; a number becomes a string. */
  readonly name: string | null;
  readonly pointer: string;
  /** All must be true; an empty list means always. */
  readonly expressions: readonly RuleExpression[];
  readonly actions: readonly Action[];
}

/**
 * Freezes a rule whose configurations of actions are frozen. It visits only the parts that a rule has, because a policy
 * can have many thousands.
 */
export function frozenRule(rule: Rule): Rule {
  for (const expression of rule.expressions) Object.freeze(expression);
  for (const action of rule.actions) Object.freeze(action);
  Object.freeze(rule.expressions);
  Object.freeze(rule.actions);
  return Object.freeze(rule);
}

/** A traffic policy that was read and has no errors. It is deeply frozen, apart from its source, which is the caller's. */
export interface PolicyDocument {
  /** The file that contains it; undefined for a policy given as an object, or as a text without a file. */
  readonly source: Source | undefined;
  /** False only if an older document has `enabled: false`. */
  readonly enabled: boolean;
  readonly phases: Readonly<Record<Phase, readonly Rule[]>>;
  /**
   * The place of the value at a pointer with current field names (`…/config/headers/x-lane`); given its text,
   * also the place of each part. Undefined for a field that the document omits.
   */
  readonly placeOf: (pointer: string, text?: string) => Place | undefined;
}
