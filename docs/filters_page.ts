import { stringify } from 'yaml';
import type { ActionFacts, ModuleFacts } from '../src/filters/facts.ts';
import type { Input } from '../src/filters/fact_values.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../src/filters/table.ts';

/** The reference of all filters (`docs/filters.md`), made from their facts. */
export function filtersPage(): string {
  return [
    '# Filters',
    'Generated from `src/filters/table.ts` by `npm run generate`; do not edit. A filter has a module, which belongs to a ' +
      'route or an edge,\nan action, which belongs to a traffic policy, or both. `edgeproof explain-code CODE` shows a reason.',
    '## Modules',
    'In their order of execution.',
    ...Array.from(MODULE_FACTS.values(), moduleSection),
    '## Actions',
    ...Array.from(ACTION_FACTS.values(), actionSection),
    '',
  ].join('\n\n');
}

function moduleSection(facts: ModuleFacts<never>): string {
  const { type, place, edgeKinds, ends, reasons } = facts;
  const edges = edgeKinds.map((edgeKind) => edgeKind.toUpperCase()).join(', ');
  const own = place === 'edge' || !edgeKinds.includes('https') ? '' : ', on routes of HTTPS edges';
  const rows = Object.entries(reasons).map(
    ([code, { message, decision }]) => [code, message, decision] as const,
  );
  return section(type, facts, [
    `Edges: ${edges}${own}. ${ends === 'may' ? 'May respond itself' : 'Never responds itself'}.`,
    table(['Reason', 'Meaning', 'Decision'], rows),
  ]);
}

function actionSection(facts: ActionFacts<never>): string {
  const { type, phases, ends, result, reasons, legacyTypes = [] } = facts;
  const when = typeof ends.when === 'function' ? 'depends on the config' : ends.when;
  const former = legacyTypes.length === 0 ? '' : ` Formerly ${legacyTypes.join(', ')}.`;
  const results = result?.row === undefined ? 'none' : `\`actions.<service>.${result.name}\``;
  const rows = Object.entries(reasons).map(
    ([code, message]) => [`${type.replaceAll('-', '_')}.${code}`, message] as const,
  );
  return section(type, facts, [
    `Phases: ${phases.join(', ')}. Ends its phase: ${when}. Result: ${results}.${former}`,
    table(['Reason', 'Meaning'], rows),
  ]);
}

function section(
  type: string,
  { reads, sharedState, examples }: ModuleFacts<never> | ActionFacts<never>,
  parts: readonly string[],
): string {
  const inputs = typeof reads === 'function' ? 'depends on the config' : reads.map(inputText).join(', ');
  const state = sharedState === undefined ? '' : ` State that processes would have to share: ${sharedState}.`;
  const [example] = examples.good;
  const shown =
    example === undefined || Object.keys(example).length === 0
      ? []
      : [`\`\`\`yaml\n${stringify(example, { lineWidth: 0 })}\`\`\``];
  return [`### ${type}`, ...parts, `Reads: ${inputs || 'nothing'}.${state}`, ...shown].join('\n\n');
}

function inputText(input: Input): string {
  return typeof input === 'string' ? input.replaceAll('_', ' ') : `header ${input.header}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [
    line(head),
    line(head.map(() => '---')),
    ...rows.map(([code, ...rest]) => line([`\`${code!}\``, ...rest])),
  ].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
