import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { KINDS, READY_PROPERTIES } from '../src/analysis/ready_properties.ts';
import { propertiesShape, propertyFileShape } from '../src/project_files/property_file.ts';
import { MUTATION_OPERATORS } from '../src/analysis/mutation_operators.ts';
import type { Shape } from '../src/config_file/shape.ts';
import { edgeFileJsonSchema } from '../src/edge/document/schema.ts';
import { EVENT_FILTER_SCOPE } from '../src/events/filter_scope.ts';
import { brandingOf } from '../src/engine/branding.ts';
import { expressionReferencePage } from '../src/policy/env/reference_page.ts';
import { filtersPage } from './filters_page.ts';
import { webhookDocument } from '../src/webhooks/document.ts';
import { codesMarkdown } from '../src/policy/codes/page.ts';
import { testsByNumber } from './code_tests.ts';
import { policyEditorSchema, policyJsonSchema } from '../src/policy/document/schema.ts';
import { scenarioJsonSchema } from '../src/simulator/document/schema.ts';

/** Writes every file that is made from the code: `npm run generate`. CI fails when one of them differs. */
const FILES: readonly (readonly [path: string, content: string])[] = [
  ['src/edge/document/edge_file.schema.json', json(edgeFileJsonSchema())],
  ['src/policy/document/policy.schema.json', json(policyJsonSchema())],
  ['schema/edge.json', json(editorSchema())],
  ['schema/policy.json', json(policyEditorSchema())],
  ['docs/expressions.md', expressionReferencePage(EVENT_FILTER_SCOPE.variables.values())],
  ['docs/policy_codes.md', codesMarkdown(brandingOf('service'), testsByNumber())],
  ['docs/filters.md', filtersPage()],
  ['docs/webhooks.md', webhookDocument()],
  ['src/simulator/document/scenario.schema.json', json(scenarioJsonSchema())],
  ['schema/scenario.json', json(scenarioJsonSchema())],
  ['docs/mutation_operators.md', mutationOperators()],
  ['docs/ready_properties.md', readyProperties()],
  [
    'schema/property.json',
    json({
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'edgeproof property file',
      ...propertyFileShape(edgeFileJsonSchema()),
    }),
  ],
  ['docs/fidelity.md', fidelity()],
];

const root = new URL('..', import.meta.url);
for (const [path, content] of FILES) {
  const url = new URL(path, root);
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, content);
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** For editors: the names of ready-made properties, and the rules of policies; a file that includes others may have no edges. */
function editorSchema(): object {
  const schema = edgeFileJsonSchema() as Shape & { readonly required: readonly string[] };
  const policy = policyEditorSchema() as { readonly properties: object; readonly definitions: object };
  const { required, properties, ...rest } = schema;
  const whole = {
    ...rest,
    definitions: policy.definitions,
    properties: { ...properties, properties: propertiesShape(schema) },
    anyOf: [...required, 'include'].map((key) => ({ required: [key] })),
  };
  const text = JSON.stringify(whole, (key, value: unknown) => {
    if (key !== 'traffic_policy') return value;
    const { properties: own, ...others } = value as { readonly properties: object };
    return { ...others, properties: { ...own, ...policy.properties } };
  });
  return JSON.parse(text) as object;
}

function readyProperties(): string {
  const rows = Object.entries(READY_PROPERTIES).map(([name, { message, parameters }]) => {
    const given = Object.entries(parameters).map(([key, kind]) => `\`${key}\` (${KINDS[kind]})`);
    return `| \`${name}\` | ${message} | ${given.join(', ') || 'none'} |`;
  });
  const head =
    '# Ready-made properties\n\nGenerated from `src/analysis/ready_properties.ts`; do not edit. What `use` can be in a property file ' +
    '([analysis](analysis.md)).';
  return `${head}\n\n| name | what it states | parameters |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function mutationOperators(): string {
  const rows = Object.entries(MUTATION_OPERATORS).map(([name, does]) => `| \`${name}\` | ${does} |`);
  const head =
    '# Operators of mutation\n\nGenerated from `src/analysis/mutation_operators.ts`; do not edit. ';
  const text = `\`edgeproof mutate\` ([analysis](analysis.md)) has ${rows.length} operators, each of which plants one kind of mistake.`;
  return `${head}${text}\n\n| operator | what it does |\n|---|---|\n${rows.join('\n')}\n`;
}

/** One page of all rooms' tables, so that a reader looks in one place. */
function fidelity(): string {
  const folder = new URL('fidelity/', import.meta.url);
  const rooms = readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => readFileSync(new URL(file, folder), 'utf8').trim().replace(/^# /, '## '));
  const head =
    '# Fidelity\n\nGenerated from `docs/fidelity/`; do not edit. Where each behaviour comes from: *specified* by the ' +
    'management API’s\nspecification, *documented* by services of this kind, or *our choice* where both are silent.\n';
  return `${head}\n${rooms.join('\n\n')}\n`;
}
