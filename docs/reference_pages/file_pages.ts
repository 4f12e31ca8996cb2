import { scenarioJsonSchema } from '../../src/simulator/document/schema.ts';
import { propertiesShape, propertyFileShape } from '../../src/project_files/property_file.ts';
import { KINDS, READY_PROPERTIES } from '../../src/analysis/ready_properties.ts';
import { MUTATION_OPERATORS } from '../../src/analysis/mutation_operators.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../src/filters/table.ts';
import { PHASES } from '../../src/filters/phase.ts';
import { EDGE_SCHEMA, POLICY_SCHEMA } from './filter_schemas.ts';
import { fixture } from './examples.ts';
import { type Page, anchorOf, code, fileOf, page, part, table } from './markdown.ts';
import type { Schema } from './schema_values.ts';
import { type Sections, sectionsOf } from './schema_sections.ts';

const GENERATED = '<!-- Generated from the schema by `npm run generate`. Do not edit. -->';
const PLACES = 'A section has the keys of one map. `NAME` is a name of your choice, `[]` an entry of a list.';
const EXPRESSIONS = 'expressions.md';

/** Pages about files that users write. */
export function filePages(): readonly Page[] {
  return [
    ['edge_file.md', edgeFilePage()],
    ['policy.md', policyPage()],
    ['scenario_file.md', scenarioPage()],
    ['property_file.md', propertyPage()],
    ['ready_properties.md', readyProperties()],
    ['mutation_operators.md', mutationOperators()],
  ];
}

function edgeFilePage(): string {
  const sections: Sections = {
    expressions: EXPRESSIONS,
    definition: (name) => `#${anchorOf(name)}`,
    examples: [fixture('sample/edge.yaml'), fixture('every_module/edge.yaml')],
    elsewhere: (path, key) => {
      if (path === '' && key === 'properties') return 'property_file.md';
      return path.startsWith('edges.') && MODULE_FACTS.has(key) ? `modules/${fileOf(key)}` : undefined;
    },
  };
  return page(
    '# Edge file',
    GENERATED,
    'An edge file is YAML or JSON, or a TypeScript module whose default export is such an object. The first line ' +
      '`# yaml-language-server: $schema=…/schema/edge.json` gives an editor completion and checks.',
    PLACES,
    'Errors have codes that begin with `edge.`: see [codes of edge files](edge_codes.md).',
    ...sectionsOf(EDGE_SCHEMA, '', sections),
  );
}

function policyPage(): string {
  const phases = PHASES.map((phase) => {
    const types = [...ACTION_FACTS.values()].filter((facts) => facts.phases.includes(phase));
    return [
      code(phase),
      POLICY_SCHEMA.properties![phase]!.description ?? '',
      types.map(({ type }) => `[\`${type}\`](actions/${fileOf(type)})`).join(', '),
    ];
  });
  const rule = POLICY_SCHEMA.definitions['rule_on_http_request']!;
  const action: Schema = {
    type: 'object',
    description: 'One action. Its type decides which keys `config` has.',
    required: ['type'],
    properties: {
      type: { type: 'string', description: 'Type of the action.' },
      config: { type: 'object', description: 'The keys of the action; may be omitted if none is required.' },
    },
  };
  const items: Schema = {
    ...rule,
    properties: { ...rule.properties, actions: { ...rule.properties!['actions'], items: action } },
  };
  return page(
    '# Traffic policy',
    GENERATED,
    'A traffic policy is a map of phases in YAML or JSON. Each phase has a list of rules, which run in order. It is the value ' +
      'of the module [`traffic_policy`](modules/traffic_policy.md), or a file of its own.',
    'Errors have the codes of [policy codes](policy_codes.md).',
    '## Phases',
    table(['Phase', 'Meaning', 'Actions'], phases),
    ...sectionsOf({ type: 'array', items }, 'on_http_request', {
      expressions: EXPRESSIONS,
      definition: () => 'actions/README.md',
      elsewhere: (path, key) =>
        path.endsWith('actions[]') && key === 'config' ? 'actions/README.md' : undefined,
      examples: [fixture('policies/every_action.yaml')],
    }),
    'Rules of the other phases have the same keys.',
  );
}

function scenarioPage(): string {
  const schema = scenarioJsonSchema() as Schema & { readonly definitions: Readonly<Record<string, Schema>> };
  const scenarios = ['shop', 'outage', 'agents', 'policy', 'secrets', 'compressed'];
  const sources = scenarios.map((name) => fixture(`scenarios/${name}.scenario.yaml`));
  const requests = sources.flatMap((each) =>
    ((each as { cases?: readonly { request?: unknown }[] }).cases ?? []).map(({ request }) => ({ request })),
  );
  const sections: Sections = {
    expressions: EXPRESSIONS,
    definition: (name) => `#${anchorOf(name)}`,
    describe: (name) => schema.definitions[name]?.description,
    examples: [...sources, ...requests],
  };
  const definitions = Object.entries(schema.definitions).map(([name, definition]) => {
    const below = sectionsOf(definition, name, sections);
    const heading = `## ${code(name)}`;
    return below[0] === heading
      ? part(...below)
      : part(heading, definition.description ?? anyText(definition), ...below);
  });
  return page(
    '# Scenario file',
    GENERATED,
    'The keys of `*.scenario.yaml`, `*.scenario.json` and `*.scenario.ts`. [Scenarios](../scenarios.md) explains how they work. ' +
      'Simulations for `edgeproof sim` are below [`simulation`](#simulation).',
    PLACES,
    ...sectionsOf(schema, '', sections),
    ...definitions,
  );
}

/** The alternatives of a definition without a sentence of its own. */
function anyText({ anyOf = [] }: Schema): string {
  const types = anyOf.map(
    ({ type, $ref, description }) => description ?? $ref?.replace(/^.*\//, '') ?? String(type),
  );
  return types.length === 0 ? 'Any value.' : `One of: ${[...new Set(types)].join(', ')}.`;
}

function propertyPage(): string {
  const schema = propertyFileShape(EDGE_SCHEMA as never) as Schema;
  const list = propertiesShape(EDGE_SCHEMA as never) as Schema;
  return page(
    '# Property file',
    GENERATED,
    'A property file has statements about every request, which `edgeproof prove` proves or refutes ' +
      '([analysis](../analysis.md)). An edge file may have the same list as `properties`.',
    PLACES,
    ...sectionsOf({ ...schema, properties: { ...schema.properties, properties: list } }, '', {
      expressions: EXPRESSIONS,
      definition: () => '#top-level',
      examples: [
        {
          edge: 'edge.yaml',
          properties: [
            {
              name: 'only the office reaches the admin pages',
              where: "req.url.path.startsWith('/admin')",
              never: { end: 'forwarded', backend: 'app', without: ['ip_restriction'] },
              use: 'path-needs-login',
              with: { path: '/admin' },
            },
          ],
        },
      ],
    }),
  );
}

function readyProperties(): string {
  const rows = Object.entries(READY_PROPERTIES).map(([name, { message, parameters }]) => {
    const given = Object.entries(parameters).map(([key, kind]) => `${code(key)} (${KINDS[kind]})`);
    return [code(name), message, given.join(', ') || 'none'];
  });
  return page(
    '# Ready-made properties',
    GENERATED,
    'The values of `use` in a [property file](property_file.md) ([analysis](../analysis.md)).',
    table(['Name', 'Statement', 'Parameters'], rows),
  );
}

function mutationOperators(): string {
  const rows = Object.entries(MUTATION_OPERATORS).map(([name, does]) => [code(name), does]);
  return page(
    '# Mutation operators',
    GENERATED,
    `\`edgeproof mutate\` ([analysis](../analysis.md)) has ${rows.length} operators; each makes one kind of mistake.`,
    table(['Operator', 'Effect'], rows),
  );
}
