import { setFiles } from '../browser/fs.ts';
import { withParts } from '../browser/parts.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { type Explanation, type Locate, explanationOf } from '../edge/explain.ts';
import { type ExpressionValues, type RuleWatch, ruleWatch } from '../edge/explained_rules.ts';
import { keepSecrets, secretProvider } from '../edge/secrets.ts';
import type { FieldList } from '../http/fields.ts';
import { runScenarios } from '../project_files/run_scenarios.ts';
import type { CaseResult } from '../simulator/result.ts';

/** The texts of a project by name: an edge file or a policy, scenario files, and what these name. */
export type ProjectTexts = Readonly<Record<string, string>>;

/** The last request of a case: what its client received, and why. */
interface Received {
  /** Rules that did not apply say which part of which expression was false. */
  readonly explanation: Explanation;
  /** At most `VALUES_LIMIT` of the expressions of policies that were evaluated for it, with the values of their parts. */
  readonly values: readonly ExpressionValues[];
  /** 0 if there was no response. */
  readonly status: number;
  readonly headers: FieldList;
  /** At most `BODY_UNITS` of the body as text. */
  readonly body: string;
  readonly bodyBytes: number;
}

export interface DecidedCase extends CaseResult {
  /** Null for a case that was not run. */
  readonly received: Received | null;
}

export interface Decided {
  readonly diagnostics: readonly Diagnostic[];
  readonly cases: readonly DecidedCase[];
}

const BODY_UNITS = 20_000;
const VALUES_LIMIT = 200;
const NOWHERE: Locate = () => null;

/** Checks a scenario file with the edge that it names, and runs its cases, each with its explanation. */
export function decideCases(texts: ProjectTexts, scenario: string): Promise<Decided> {
  return withParts(() => decide(texts, scenario));
}

async function decide(texts: ProjectTexts, scenario: string): Promise<Decided> {
  setFiles(texts);
  const cases: DecidedCase[] = [];
  let received: Received | null = null;
  let locate = NOWHERE;
  let rules: RuleWatch | null = null;
  const [result] = await runScenarios([scenario], {
    selects: () => true,
    seed: null,
    repeat: 1,
    bail: false,
    fillsSnapshots: true,
    lines: true,
    on: ({ checked }, edge) => {
      ({ locate } = edge);
      const kept = keepSecrets(secretProvider(checked.scenario?.shell.secrets ?? {}));
      for (const names of Object.values(checked.scenario?.shell.secrets ?? {}))
        for (const text of Object.values(names)) kept.remember(text);
      rules = ruleWatch(kept.redact);
      return edge.traced().watched({ watch: rules.watch, completed: () => {} });
    },
    completed: ({ exchange, response: { status, headers, body } }) => {
      const text = new TextDecoder().decode(body.subarray(0, BODY_UNITS));
      const reasons = rules!.of(exchange.connection);
      const explanation = reasons.withReasons(explanationOf(exchange, locate));
      const values = reasons.values().slice(0, VALUES_LIMIT);
      received = { explanation, values, status, headers, body: text, bodyBytes: body.length };
    },
    onResult: (ran) => {
      cases.push({ ...ran, received });
      received = null;
    },
  });
  return { diagnostics: result!.diagnostics, cases };
}
