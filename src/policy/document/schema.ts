import * as z from 'zod';
import { ACTION_FACTS } from '../../filters/table.ts';
import { ACTION_SCHEMAS, type ActionType } from '../../filters/action_schemas.ts';
import { type Phase, PHASES } from '../../filters/phase.ts';

/**
 * The schema of traffic policies. `policy.schema.json` is generated from it for the checker and editors;
 * run-time code must not import this file.
 */

const PHASE_DESCRIPTIONS: Readonly<Record<Phase, string>> = {
  on_tcp_connect: 'Rules that run when a connection is opened.',
  on_http_request: 'Rules that run on a request before it goes to the upstream.',
  on_http_response: 'Rules that run on a response before it goes to the client.',
  on_event_stream_message: 'Rules that run on each message of an event stream.',
};

const actions = new Map<string, z.ZodType>(
  Object.entries(ACTION_SCHEMAS).map(([type, config]) => {
    const description = config.description ?? '';
    const needsConfig = !config.safeParse({}).success;
    const shape = { type: z.literal(type), config: needsConfig ? config : config.optional() };
    return [type, z.strictObject(shape).meta({ id: type, description })];
  }),
);

function rulesOf(phase: Phase) {
  const allowed = [...actions].filter(([type]) => ACTION_FACTS.get(type)!.phases.includes(phase));
  const rule = z.strictObject({
    name: z
      .union([z.string(), z.number()])
      .optional()
      .meta({ description: 'Name of the rule in traces.', mutants: 'absence' }),
    expressions: z
      .array(z.string().min(1).meta({ kind: 'expression', condition: true }))
      .optional()
      .describe('The rule runs if all of these conditions are true; without conditions it always runs.'),
    actions: z
      .array(z.union(allowed.map(([, schema]) => schema)))
      .min(1)
      .describe('Actions of the rule, in order.'),
  });
  return z
    .array(rule.meta({ id: `rule_${phase}`, description: 'One rule.' }))
    .describe(PHASE_DESCRIPTIONS[phase]);
}

const [T, Q, S, E] = PHASES;

const policyDocument = z
  .strictObject({
    [T]: rulesOf(T).optional(),
    [Q]: rulesOf(Q).optional(),
    [S]: rulesOf(S).optional(),
    [E]: rulesOf(E).optional(),
  })
  .describe('A traffic policy: rules by phase.');

type ConfigInput<Type extends ActionType> = z.input<(typeof ACTION_SCHEMAS)[Type]>;

/** An action as it is written; `config` may be left out if all of it has defaults. */
type ActionInput = {
  [Type in ActionType]: Partial<ConfigInput<Type>> extends ConfigInput<Type>
    ? { type: Type; config?: ConfigInput<Type> | undefined }
    : { type: Type; config: ConfigInput<Type> };
}[ActionType];

/** A traffic policy as it is written. The checker knows which actions a phase can have. */
export type TrafficPolicyInput = {
  [Each in Phase]?:
    | {
        name?: string | number | undefined;
        expressions?: string[] | undefined;
        actions: ActionInput[];
      }[]
    | undefined;
};

/**
 * The traffic policy as a JSON Schema of draft 7. Strings that hold a secret, a template and so on are marked with
 * keywords of our own (`FieldFacts`), which other readers ignore.
 */
export function policyJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(policyDocument, { target: 'draft-7', io: 'input' });
  return { $schema, title: 'edgeproof traffic policy', ...rest };
}

/** The same for YAML language servers, which do not know that an entry may be written in place of its list. */
export function policyEditorSchema(): object {
  const text = JSON.stringify(policyJsonSchema(), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('itemOrList' in value)) return value;
    const {
      itemOrList: _,
      description,
      ...list
    } = value as { items: object; itemOrList: true; description: string };
    return { description, anyOf: [list.items, list] };
  });
  return JSON.parse(text) as object;
}
