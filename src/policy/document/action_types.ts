import { plainJson } from './plain_json.ts';
import { readPolicyText, wholeFile } from './read.ts';
import { structureOf } from './structure.ts';

/** Nothing is reported. */
const SILENT = { branding: { service: '', errorCode: String } };

/**
 * The types of the actions of a policy, in JSON or YAML; none of a policy that is not enabled. Errors in other parts do
 * not matter.
 */
export function actionTypesIn(text: string): ReadonlySet<unknown> {
  const { policy } = readPolicyText(text, wholeFile({ name: '', text }));
  const value = plainJson(text) ?? policy.value;
  const structure = structureOf({
    policy: { ...policy, value },
    setting: SILENT,
    report: () => undefined,
  });
  if (structure === null || !structure.enabled) return new Set();
  return new Set(structure.rules.flatMap(({ actions }) => actions.map((action) => action.value['type'])));
}
