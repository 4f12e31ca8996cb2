import { stringify } from 'yaml';
import { type ObjectType, type Type, formatType } from '../../src/cel/types.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import { type ActionFacts, type ModuleFacts, whenEnds } from '../../src/filters/facts.ts';
import type { BadExample, Input } from '../../src/filters/fact_values.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../src/filters/table.ts';
import { codesOfAction, codesOfModule } from './faults.ts';
import { type Page, code, fenced, fileOf, page, sentence, table } from './markdown.ts';
import { type Place, actionSchema, placesOf } from './filter_schemas.ts';
import { linkOfCode } from './code_links.ts';
import { sectionsOf } from './schema_sections.ts';

const { errorCode } = brandingOf('service');
const GENERATED =
  '<!-- Generated from the facts and the schema of the filter by `npm run generate`. Do not edit. -->';

/** A page for each module and action, and an index of each. */
export function filterPages(): readonly Page[] {
  return [
    ['modules/README.md', moduleIndex()],
    ...Array.from(
      MODULE_FACTS.values(),
      (facts) => [`modules/${fileOf(facts.type)}`, modulePage(facts)] as const,
    ),
    ['actions/README.md', actionIndex()],
    ...Array.from(
      ACTION_FACTS.values(),
      (facts) => [`actions/${fileOf(facts.type)}`, actionPage(facts)] as const,
    ),
  ];
}

function moduleIndex(): string {
  const rows = Array.from(MODULE_FACTS.values(), (facts) => [
    `[\`${facts.type}\`](${fileOf(facts.type)})`,
    placesOf(facts)
      .map(({ name }) => name)
      .join(', '),
    descriptionOf(placesOf(facts)),
  ]);
  return page(
    '# Modules',
    GENERATED,
    'A module configures one capability on a route or an edge of the [edge file](../edge_file.md). Modules run in the order of ' +
      'this table, whatever their order in the file. Several of them also exist as [actions](../actions/README.md) of a traffic policy.',
    table(['Module', 'Configured on', 'Function'], rows),
  );
}

function modulePage(facts: ModuleFacts<never>): string {
  const places = placesOf(facts);
  const [first] = places;
  const reasons = Object.entries(facts.reasons).map(([reason, { message, decision }]) => [
    code(reason),
    decision === undefined || decision === null ? '' : code(decision),
    sentence(message),
  ]);
  return page(
    `# \`${facts.type}\``,
    GENERATED,
    `${descriptionOf(places)} A module of ${places.map(({ name }) => name).join(', ')}. ${
      facts.ends === 'may' ? 'It may stop a request or respond itself.' : 'It never stops a request.'
    }`,
    ...exampleOf(facts.type, facts.examples.good, 'module'),
    ...places.flatMap((place) => keysOfModule(facts, place, places.length > 1)),
    '## Reasons',
    'Traces, `explain` and `because:` in scenarios show the reason; the event has the decision.',
    table(['Reason', 'Decision', 'Meaning'], reasons),
    ...refused(facts.examples.bad),
    ...codesOfModulePage(facts, first),
    ...behaviour(facts),
    twinOfModule(facts.type, first),
  );
}

/** Findings that only this module reports, and numbers of the management API. */
function codesOfModulePage({ findings = {}, apiCodes }: ModuleFacts<never>, place?: Place): string[] {
  const rows = Object.entries(findings).map(([finding, { message }]) => [
    linkOfCode(finding, '../'),
    sentence(message),
  ]);
  const codes = typeof apiCodes === 'function' ? apiCodes(place?.edgeKind ?? 'https') : apiCodes;
  const numbers = Object.entries(codes?.below ?? {}).map(([key, number]) => [
    code(key),
    code(errorCode(number)),
  ]);
  return [
    ...(rows.length > 0 ? ['## Findings of this module', table(['Code', 'Meaning'], rows)] : []),
    ...(numbers.length > 0
      ? ['## Error numbers of the management API', table(['Key', 'Wrong value'], numbers)]
      : []),
  ];
}

function keysOfModule(facts: ModuleFacts<never>, place: Place, hasOthers: boolean): string[] {
  const heading = hasOthers ? `## Keys on ${place.name}` : '## Keys';
  const sections = sectionsOf(place.schema, facts.type, {
    expressions: '../expressions.md',
    definition: () => '../policy.md',
    examples: facts.examples.good.map((config) => ({ [facts.type]: config })),
    codes: codesOfModule(facts, place),
    depth: 3,
  });
  return [heading, ...(sections.length > 0 ? sections : ['The module has no keys.'])];
}

function actionIndex(): string {
  const rows = Array.from(ACTION_FACTS.values(), ({ type, phases }) => [
    `[\`${type}\`](${fileOf(type)})`,
    phases.map(code).join(', '),
    actionSchema(type).description ?? '',
  ]);
  return page(
    '# Actions',
    GENERATED,
    'An action is a step of a rule in a [traffic policy](../policy.md): `type` and `config`.',
    table(['Action', 'Phases', 'Function'], rows),
  );
}

const ENDS = {
  never: 'It never ends its phase.',
  may: 'It may end its phase.',
  always: 'It always ends its phase, so actions after it do not run.',
} as const;

function actionPage(facts: ActionFacts<never>): string {
  const { type, phases, ends, result, reasons, examples, legacyTypes = [], alsoCalled = [] } = facts;
  const schema = actionSchema(type);
  const prefix = type.replaceAll('-', '_');
  const when = typeof ends.when === 'function' ? whenEnds(facts, {}) : ends.when;
  const sections = sectionsOf(schema, 'config', {
    expressions: '../expressions.md',
    definition: () => '../policy.md',
    examples: examples.good.map((config) => ({ config })),
    codes: codesOfAction(facts, schema),
    depth: 3,
  });
  return page(
    `# \`${type}\``,
    GENERATED,
    `${schema.description ?? ''} An action for ${phases.map(code).join(', ')}. ${ENDS[when]}`,
    ...exampleOf(type, examples.good, phases[0]!),
    '## Keys',
    ...(sections.length > 0 ? sections : ['The action has no keys; `config` may be omitted.']),
    '## Result',
    result?.row === undefined
      ? 'Expressions cannot read a result of this action.'
      : resultText(result.name, result.row),
    '## Reasons',
    table(
      ['Reason', 'Meaning'],
      Object.entries(reasons).map(([reason, message]) => [code(`${prefix}.${reason}`), sentence(message)]),
    ),
    ...refused(examples.bad),
    ...behaviour(facts),
    otherTypes(legacyTypes, alsoCalled),
  );
}

function otherTypes(former: readonly string[], tried: readonly string[]): string {
  const parts = [
    former.length > 0 ? `Former names, which are refused with a fix: ${former.map(code).join(', ')}.` : '',
    tried.length > 0 ? `Also called ${tried.map(code).join(', ')} elsewhere.` : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function resultText(
  name: string,
  { doc, type }: NonNullable<NonNullable<ActionFacts<never>['result']>['row']>,
): string {
  const own = typeof type === 'function' ? type('service') : type;
  const rows = fieldsOf(own).map(([field, each]) => [
    code(`actions.service.${name}.${field}`),
    formatType(each.type),
    each.optional === true ? `${each.doc} May be absent.` : each.doc,
  ]);
  return page(
    `${doc} Later [expressions](../expressions.md) read \`actions.service.${name}\`, where \`service\` is the \`service_name\` of the edge file.`,
    table(['Variable', 'Type', 'Meaning'], rows),
  ).trimEnd();
}

function fieldsOf(type: Type): readonly (readonly [string, ObjectType['fields'][string]])[] {
  return type.kind === 'object' ? Object.entries(type.fields) : [];
}

function exampleOf(type: string, good: readonly object[], place: string): string[] {
  const config = good.find((each) => Object.keys(each).length > 0) ?? {};
  const isEmpty = Object.keys(config).length === 0;
  const value =
    place === 'module'
      ? { [type]: config }
      : { [place]: [{ actions: [isEmpty ? { type } : { type, config }] }] };
  return [fenced('yaml', stringify(value, { lineWidth: 0 }))];
}

function refused(bad: readonly BadExample[]): string[] {
  const rows = bad.map(({ config, finding }) => [code(JSON.stringify(config)), linkOfCode(finding, '../')]);
  return rows.length === 0 ? [] : ['## Refused, or warned about', table(['Config', 'Code'], rows)];
}

function behaviour({ reads, sharedState, costNs }: ModuleFacts<never> | ActionFacts<never>): string[] {
  const inputs = typeof reads === 'function' ? 'depends on the config' : reads.map(inputText).join(', ');
  const rows = [
    ['Reads', inputs || 'nothing'],
    ['State to share between processes', sharedState ?? 'none'],
    ['Cost', `about ${costNs.toLocaleString('en-US')} ns; \`edgeproof bench\` measures yours`],
  ];
  return ['## Behaviour', table(['Property', 'Value'], rows)];
}

function inputText(input: Input): string {
  return typeof input === 'string' ? input.replaceAll('_', ' ') : `header ${code(input.header)}`;
}

function descriptionOf(places: readonly Place[]): string {
  return places[0]?.schema.description ?? '';
}

/** The action of the same filter, if there is one. */
function twinOfModule(type: string, place: Place | undefined): string {
  const action = type.replaceAll('_', '-');
  if (place === undefined || !ACTION_FACTS.has(action)) return '';
  return `The same as an action of a traffic policy: [\`${action}\`](../actions/${fileOf(action)}).`;
}
