import type { Source, Span } from '../../diagnostics/diagnostic.ts';
import type { ActionConfig, ActionType } from '../actions/schemas.ts';
import type { Phase } from '../phase.ts';
import type { TextMap } from './text_map.ts';

/** Where a value of a document stands. Offsets are those of the outermost file. */
export interface Place {
  readonly span: Span;
  /** For a text: where each part of it stands. */
  readonly map?: TextMap;
}

/** One expression of a rule. */
export interface RuleExpression {
  readonly text: string;
  readonly pointer: string;
  readonly span: Span;
  /** Turns offsets in `text` into offsets in the file. */
  readonly map: TextMap;
}

export interface ActionOf<T extends ActionType> {
  readonly type: T;
  readonly config: ActionConfig<T>;
  readonly pointer: string;
  readonly span: Span;
}

/** One action: its type tells the shape of its config, in which defaults are filled in and aliases resolved. */
export type Action = { readonly [T in ActionType]: ActionOf<T> }[ActionType];

export interface Rule {
  readonly phase: Phase;
  /** Position in its phase, from 0. */
  readonly index: number;
  /** As written; a number becomes a text. */
  readonly name: string | null;
  readonly pointer: string;
  readonly span: Span;
  /** All must be true; none means always. */
  readonly expressions: readonly RuleExpression[];
  readonly actions: readonly Action[];
}

/** A traffic policy that was read and found free of errors. */
export interface PolicyDocument {
  /** The file that it stands in; undefined for a policy given as an object. */
  readonly source: Source | undefined;
  /** False only where an older document says `enabled: false`. */
  readonly enabled: boolean;
  readonly phases: Readonly<Record<Phase, readonly Rule[]>>;
  /**
   * Where the value at a pointer stands, given with today's names of fields (`…/config/headers/x-lane`); with its
   * text also where each part of that stands. Undefined for a field that the document leaves out.
   */
  readonly placeOf: (pointer: string, text?: string) => Place | undefined;
}
