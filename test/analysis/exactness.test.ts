import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Diagram } from '../../src/analysis/atoms.ts';
import { isDecidedByRequest } from '../../src/analysis/walk.ts';
import { conditionDiagram } from '../../src/analysis/conditions.ts';
import { Analysis } from '../../src/analysis/model.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import { compileCondition } from '../../src/filters/evaluators.ts';
import { checkPolicy } from '../../src/policy/document/check.ts';
import type { Rule } from '../../src/policy/document/document.ts';
import { scopeFor } from '../../src/policy/env/scopes.ts';

/** How many rules of the published policies have conditions that are decided exactly, and why others have not. */

const FOLDER = 'fixtures/policies';

function rulesOf(name: string): readonly Rule[] {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  const { document } = checkPolicy({ name, text }, { branding: brandingOf('service') });
  expect([name, document === null]).toEqual([name, false]);
  return Object.values(document!.phases).flat();
}

interface Conditions {
  readonly name: string;
  /** Conditions of which only the text is known. */
  readonly opaque: readonly string[];
  /** Fields that are exact, but that the request alone does not decide. */
  readonly values: readonly string[];
}

function conditionsOf(name: string, rule: Rule): Conditions {
  const { atoms, diagrams } = new Analysis();
  const opaque = new Set<string>();
  const values = new Set<string>();
  const walk = (node: Diagram<unknown>): void => {
    if ('leaf' in node) return;
    const { atom } = node;
    if (atom.kind === 'opaque') opaque.add(atom.message.replace(/^whether | fails$/g, ''));
    else if (!isDecidedByRequest(atom)) values.add(atom.field.name);
    walk(node.yes);
    walk(node.no);
  };
  for (const { text } of rule.expressions) {
    const { program } = compileCondition(
      text,
      '',
      scopeFor(rule.phase as 'on_http_request', { service: 'service' }),
    );
    walk(
      conditionDiagram(program!, {
        atoms,
        diagrams,
        path: 'as_is',
        changesOf: () => '',
        surroundings: () => '',
        occurrence: () => 0,
      }),
    );
  }
  return { name, opaque: [...opaque], values: [...values] };
}

test('the share of rules that are decided exactly, and what decides besides the request', () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
  const rules = names.flatMap((name) => rulesOf(name).map((rule) => conditionsOf(name, rule)));
  const exact = rules.filter(({ opaque }) => opaque.length === 0);
  const byRequest = exact.filter(({ values }) => values.length === 0);
  expect(rules.filter(({ opaque }) => opaque.length > 0)).toEqual([]);
  expect(exact.filter(({ values }) => values.length > 0).map(({ name, values }) => [name, values])).toEqual([
    ['canary.yaml', ['chance #0']],
    ['dry_run_ips.yaml', ['actions.service.restrict_ips.action']],
    ['every_action.yaml', ['truth conn.client_ip.is_tor_node']],
    ['login.yaml', ['actions.service.oidc.identity.email']],
  ]);
  const share = Math.floor((100 * exact.length) / rules.length);
  expect(share).toBeGreaterThanOrEqual(95);
  // The page says so in these words.
  const page = readFileSync('docs/analysis.md', 'utf8').replaceAll(/\s+/g, ' ');
  expect(page).toContain(
    `Of the ${rules.length} rules of the published policies (\`fixtures/policies\`), ${exact.length} (${share} %) ` +
      `have no opaque condition; ${byRequest.length} of them are decided by the fields above alone`,
  );
});
