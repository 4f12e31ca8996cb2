/**
 * Types of the results of actions, which later expressions read under `actions.<service>.<action>`. A result is a
 * plain record of run-time values with the declared members; optional members may be omitted. Its maps are created
 * with `stringMap()` or `headerFields()`.
 */
import { type Field, type Type, INT, STRING, list, object } from '../cel/types.ts';
import type { Value } from '../cel/values.ts';
import type { ActionResultFacts } from './facts.ts';

type Member = Field & { readonly read: (record: Record<string, Value>) => Value | undefined };
type Members = Readonly<Record<string, readonly [Type, string, ('optional' | { readonly unset: Value })?]>>;

/** The type of a record. Results are read rarely, so one keyed read for all members is enough. */
export function record(name: string, members: Members): Type {
  const fields: Record<string, Member> = {};
  for (const [key, [type, doc, absence]] of Object.entries(members)) {
    const unset = typeof absence === 'object' && absence;
    fields[key] = { type, doc, optional: absence !== undefined, ...unset, read: (from) => from[key] };
  }
  return object(name, fields);
}

/** The results of an action, by their name below `actions.<service>.`. */
export function resultOf(name: string, doc: string, members: Members): ActionResultFacts {
  const words = name.split('_').map((word) => word[0]!.toUpperCase() + word.slice(1));
  return { name, row: { doc, type: record(`${words.join('')}Result`, members) } };
}

export const ERROR = record('ActionError', {
  code: [STRING, 'Code of the error.'],
  message: [STRING, 'Error message.'],
});
export const error = [
  ERROR,
  'Why the action failed; its members are empty if it did not.',
  { unset: { code: '', message: '' } },
] as const;

const MATCHED_RULE = record('MatchedRule', {
  id: [INT, 'Number of the rule.'],
  message: [STRING, 'Pattern of the rule.'],
  severity: [STRING, 'Severity.'],
  data: [STRING, 'Matched text.'],
});

/** Results of the core rule set. */
export const INSPECTION = {
  decision: [STRING, '`allow` or `deny`.'],
  anomaly_score: [INT, 'Sum of the scores of all matched rules.'],
  anomaly_score_threshold: [INT, 'The score threshold for denial.'],
  matched_rules: [list(MATCHED_RULE), 'Matched rules.'],
  error,
} as const;

const REPLACEMENT = record('Replacement', {
  replacement_index: [INT, 'Number of the replacement in the configuration, from 0.'],
  matched_content: [STRING, 'The replaced text.'],
});

/** Results of replacing text in bodies. */
export const REPLACEMENTS = { replacements: [list(REPLACEMENT), 'Replacements, in order.'], error } as const;

/** Results of computing a URL. */
export const NEW_URL = {
  matches: [list(STRING), 'The match and its groups.'],
  url: [STRING, 'The resulting URL.'],
  error,
} as const;
