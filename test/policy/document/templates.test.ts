import { expect, it } from 'vitest';
import { brandingOf } from '../../../src/engine/branding.ts';
import { checkPolicy } from '../../../src/policy/document/check.ts';

const branding = brandingOf('service');

function found(template: string): string[] {
  const text = JSON.stringify({
    on_http_request: [{ actions: [{ type: 'custom-response', config: { body: template } }] }],
  });
  const { diagnostics } = checkPolicy({ name: 'policy.json', text }, { branding });
  return diagnostics.map(({ code, span }) => `${code.slice(-4)} ${text.slice(span!.start, span!.end)}`);
}

it('reports all errors of a template at once', () => {
  expect(found('a ${req.host b ${ } c ${req.metod} d ${')).toEqual([
    '2224 ${',
    '2224 ${ }',
    '2224 metod',
    '2224 ${',
  ]);
});

it('stops at a number of problems, because each costs a scan of the rest', () => {
  const started = performance.now();
  expect(found('${'.repeat(50_000))).toHaveLength(20);
  expect(performance.now() - started).toBeLessThan(10_000);
});
