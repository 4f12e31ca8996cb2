import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { otherCodes } from '../../src/cli/code_sentences.ts';
import { apiNumbers } from '../../src/control/api_numbers.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import { AUDIT_TYPES } from '../../src/events/event_types.ts';
import { TRAFFIC_EVENTS } from '../../src/events/fields.ts';
import { findCode } from '../../src/policy/codes/page.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));
const others = otherCodes();
const isKnown = (code: string) => findCode(code, brandingOf('service'), others).kind !== 'unknown';

/** Texts of the same form as codes, which are parts of events, of recordings and of scenarios. */
const NOT_CODES = new Set([
  'backend.connection_reused',
  'basic_auth.decision',
  'basic_auth.encode',
  'basic_auth.username',
  'circuit_breaker.decision',
  'compression.algorithm',
  'compression.bytes_saved',
  'edge.test',
  'oauth.app_client_id',
  'oauth.decision',
  // Findings of the reader, which get the number of unreadable policies.
  'policy.not_a_map',
  'policy.several_documents',
  'policy.syntax',
  'policy.unknown_tag',
  'request.body',
  'request.headers',
  'request.target',
  'traffic_policy.logs',
  'upstream.backend',
  'upstream.json',
  'webhook_verification.decision',
]);

/** Every text of the source in a namespace of codes. */
function codesInSource(): string[] {
  const namespaces = new Set(Object.keys(others.sentences).map((code) => code.split('.')[0]!));
  for (const one of ['policy', 'expr']) namespaces.add(one);
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const found = new Set<string>();
  for (const file of files) {
    for (const [, code] of readFileSync(join(SOURCE, file), 'utf8').matchAll(/'([a-z_]+\.[a-z_]*[a-z])'/g))
      if (namespaces.has(code!.split('.')[0]!)) found.add(code!);
  }
  return [...found].filter((code) => !NOT_CODES.has(code) && !/\.(?:ts|ya?ml)$/.test(code)).sort();
}

describe('explain-code', () => {
  it('knows every code of the source', () => {
    const codes = codesInSource();
    expect(codes.length).toBeGreaterThan(250);
    expect(codes.filter((code) => !isKnown(code))).toEqual([]);
  });

  it('knows every type of event', () => {
    expect([...AUDIT_TYPES, ...Object.keys(TRAFFIC_EVENTS)].filter((type) => !isKnown(type))).toEqual([]);
  });

  it('knows every number that the engine and the checker give', () => {
    const numbers = others.numbers.map(({ number }) => number);
    expect(numbers.length).toBeGreaterThan(20);
    expect(numbers.filter((number) => !isKnown(String(number)))).toEqual([]);
  });

  it('has an example and a cure for every finding', () => {
    const findings = Object.entries(others.sentences).filter(([code]) =>
      /^(?:edge|property|scenario|policy|expr|analysis|facts)\./.test(code),
    );
    expect(findings.length).toBeGreaterThan(200);
    const without = findings.filter(([, text]) => !/For example[^]*The cure: /.test(text));
    expect(without.map(([code]) => code)).toEqual([]);
  });

  it('says of every reason how to see what decided, and how a case expects it', () => {
    for (const reason of ['ip_restriction.denied', 'upstream.connect', 'deny.denied', 'stream.ended'])
      expect(others.sentences[reason]).toMatch(/edgeproof explain METHOD URL[^]*because: /);
  });

  it('knows every number of the management API', () => {
    const numbers = apiNumbers();
    expect(numbers.length).toBeGreaterThan(100);
    const known = { ...others, numbers: [...others.numbers, ...numbers] };
    const isUnknown = ({ number }: { readonly number: number }) =>
      findCode(String(number), brandingOf('service'), known).kind === 'unknown';
    expect(numbers.filter(isUnknown)).toEqual([]);
    // Numbers that the source gives by themselves.
    const written = readdirSync(join(SOURCE, 'control'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) =>
        Array.from(
          readFileSync(join(SOURCE, 'control', name), 'utf8').matchAll(
            /new ApiProblem\(\s*\d{3},\s*(\d{3,5}),/g,
          ),
          ([, number]) => Number(number),
        ),
      );
    expect(written.length).toBeGreaterThan(15);
    expect(written.filter((number) => isUnknown({ number }))).toEqual([]);
  });

  it.each([
    ['201', 'Authorization: Bearer'],
    ['expr.not_bool', 'The cure: Compare it with something'],
    ['property.unknown_key', 'In a property file: The key is unknown at this place.'],
    ['scenario.no_expectation', 'A case without expectations cannot fail.'],
    ['analysis.dead_rule', 'The cure: '],
    ['term-negated', 'A mistake that `mutate` plants: it negates a term of `&&` or `||`'],
    ['upstream.timeout', 'The response has status 504'],
    ['rule.not_applied', '`explain` says which one, and its values'],
    ['http_request_complete.v0', 'A traffic event'],
    ['6514', 'No backend has this name.'],
  ])('%s has its meaning', async (code, means) => {
    const { stdout, code: exit } = await edgeproof(['explain-code', code], folderWith());
    expect({ exit, stdout }).toMatchObject({ exit: 0 });
    expect(stdout).toContain(means);
  });
});
