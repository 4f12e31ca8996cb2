import type { Report } from '../../diagnostics/report.ts';
import type { ScenarioCode } from '../document/codes.ts';
import type { Mismatch } from '../result.ts';
import type { Outcome } from './outcome.ts';

/** A compiled expectation: null if it is met. */
export type Expectation = (outcome: Outcome) => Mismatch | null;

/** Lookup of names while expectations are compiled. */
export interface ExpectationContext {
  readonly backends: readonly string[];
  readonly agents: readonly string[];
  /** Texts of the policies of the edge. */
  readonly policies: readonly string[];
  /** The name of the service, which prefixes some variables of expressions. */
  readonly service: string;
  readonly report: Report<ScenarioCode>;
}
