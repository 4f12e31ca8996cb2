import { plainJson } from '../../config_file/plain_json.ts';
import { readPolicyText, wholeFile } from './read.ts';
import { atOnce } from '../../config_file/steps.ts';
import type { Phase } from '../../filters/phase.ts';
import type { RawRule } from './rule_structure.ts';
import { structureOf } from './structure.ts';

/** Nothing is reported. */
const SILENT = { branding: { service: '', errorCode: String } };

/** The types of the actions of a policy: see `actionsIn`. */
export function actionTypesIn(text: string): ReadonlySet<unknown> {
  return new Set(actionsIn(text).map(({ type }) => type));
}

/**
 * The actions of a policy as they are written, in JSON or YAML; none of a policy that is not enabled. Errors in other
 * parts do not matter.
 */
export function actionsIn(text: string): readonly WrittenAction[] {
  return rulesIn(text).flatMap(({ actions }) => actions.map(({ value }) => value));
}

/** The actions of a phase whose rule has no condition. */
export function unconditionalActionsIn(text: string, phase: Phase): readonly WrittenAction[] {
  return rulesIn(text)
    .filter((rule) => rule.phase === phase && rule.expressions.length === 0)
    .flatMap(({ actions }) => actions.map(({ value }) => value));
}

type WrittenAction = Readonly<Record<string, unknown>>;

function rulesIn(text: string): readonly RawRule[] {
  const { policy } = readPolicyText(text, wholeFile({ name: '', text }));
  const whole = plainJson(text) ?? policy.value;
  const structure = atOnce(
    structureOf({ policy: { ...policy, value: whole }, setting: SILENT, report: () => undefined }),
  );
  return structure === null || !structure.enabled ? [] : structure.rules;
}
