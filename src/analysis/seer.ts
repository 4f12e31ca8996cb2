import type { Rule } from '../policy/document/document.ts';
import type { Cell } from './cells.ts';
import type { Diagram, Truth } from './diagram.ts';
import type { ExaminedPolicy } from './expression_findings.ts';
import { possible } from './finding.ts';
import { AT_START } from './outcome.ts';
import { RuleConditions } from './rule_conditions.ts';
import { type Observed, type Witness, observe, witnessOf } from './witness.ts';

export function isStopped(observed: Observed): boolean {
  return observed.explanation.decidedBy.verdict === 'stop';
}

/** Finds requests for rules, and runs them. */
export class Seer {
  readonly policy: ExaminedPolicy;
  readonly #conditions: RuleConditions;

  constructor(policy: ExaminedPolicy) {
    this.policy = policy;
    this.#conditions = new RuleConditions(policy.place, policy.document);
  }

  /** When a rule applies to requests as they are sent. */
  condition(rule: Rule): Diagram<Truth> {
    return this.#conditions.of(rule, 'on_http_request', AT_START);
  }

  /** A request that fulfils all these rules as it is sent; null if none was found. */
  requestFor(
    rules: readonly Rule[],
    start: Diagram<Truth> = this.policy.place.model.analysis.diagrams.true,
  ): { readonly witness: Witness; readonly cell: Cell } | null {
    const { diagrams } = this.policy.place.model.analysis;
    const all = rules
      .map((rule) => this.condition(rule))
      .reduce((sum, each) => diagrams.choose(sum, each, diagrams.false, diagrams.false), start);
    for (const cell of this.policy.cells) {
      const { values } = possible(cell, all, (leaf) => leaf === 'true');
      const witness = values === null ? null : witnessOf(values);
      if (witness !== null) return { witness, cell };
    }
    return null;
  }

  run(witness: Witness): Observed | null {
    return observe(this.policy.place.model, witness);
  }

  /** Whether a rule, or one of its actions, has a step in what was observed. */
  isBy(observed: Observed, rule: Rule): boolean {
    return observed.explanation.steps.some(({ inner = [] }) =>
      inner.some(({ pointer }) => pointer === rule.pointer || pointer.startsWith(`${rule.pointer}/`)),
    );
  }
}

export function mentions(rule: Rule, what: RegExp): boolean {
  return rule.expressions.some(({ text }) => what.test(text));
}
