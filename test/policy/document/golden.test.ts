import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderDiagnostics } from '../../../src/diagnostics/render.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { POLICY_WARNINGS } from '../../../src/policy/codes/warnings.ts';
import { checkPolicy } from '../../../src/policy/document/check.ts';
import { fixSource } from '../../../src/policy/document/fixes.ts';

// Each file in `fixtures/policies/broken` is a policy, a line of dashes, what the checker says of it, another line
// of dashes and the policy after its safe fixes. `UPDATE=1` writes what is said today.

const folder = new URL('../../../fixtures/policies/', import.meta.url);
const setting = {
  branding: brandingOf('service'),
  internalHosts: ['app.internal', 'billing.internal', 'blog.internal'],
};
const DASHES = '\n----------\n';

function answer(text: string): string {
  const source = { name: 'policy.yaml', text };
  const said = renderDiagnostics(checkPolicy(source, setting).diagnostics, { color: false });
  const fixed = fixSource(source, (again) => checkPolicy(again, setting).diagnostics);
  const after = fixed.applied.length === 0 ? '' : `${DASHES.slice(1)}${fixed.text}`;
  return `${text}${DASHES.slice(1)}${said}${after}`;
}

function policyIn(golden: string): string {
  return golden.slice(0, golden.indexOf(DASHES) + 1);
}

const broken = readdirSync(new URL('broken/', folder));

it('every warning of ours has an example', () => {
  const shown = broken.map((name) => readFileSync(new URL(`broken/${name}`, folder), 'utf8')).join('');
  // Names of secrets are told only where their provider can list them: test/policy/run/secrets.test.ts.
  // Additions are told only by a strict check: test/policy/document/suggestions.test.ts.
  const missing = Object.keys(POLICY_WARNINGS).filter((code) => !shown.includes(` warning ${code} `));
  expect(missing).toEqual(['policy.unknown_secret', 'policy.addition']);
});

describe.each(broken)('%s', (name) => {
  it('has the expected findings', () => {
    const file = new URL(`broken/${name}`, folder);
    const now = answer(policyIn(readFileSync(file, 'utf8')));
    if (process.env['UPDATE'] === '1') writeFileSync(file, now);
    expect(now).toBe(readFileSync(file, 'utf8'));
  });
});

describe.each(readdirSync(folder).filter((name) => name !== 'broken'))('%s', (name) => {
  it('has no findings', () => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const { document, diagnostics } = checkPolicy({ name, text }, setting);
    const found = diagnostics.filter(({ code }) => code !== 'policy.not_simulated');
    expect(renderDiagnostics(found, { color: false })).toBe('');
    expect(document).not.toBeNull();
  });
});
