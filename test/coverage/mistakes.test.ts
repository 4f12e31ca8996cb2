import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { coveredEdge } from '../../src/coverage/coverage.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { hasErrors } from '../../src/diagnostics/diagnostic.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { runFile } from '../../src/simulator/run_file.ts';
import { ONCE } from '../../src/simulator/run_file.ts';
import { findCases } from '../../src/simulator/search/cover_points.ts';
import { emittedCases } from '../../src/simulator/search/emit.ts';
import { noticingCases } from '../../src/simulator/search/noticing_cases.ts';
import { webhookSigner } from '../../src/simulator/webhook_signer.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { IN_EVERY_MODULE, IN_SAMPLE, IN_SHOP, type Mistake, SHOP } from './mistakes.ts';
import { onePolicy } from '../one_route.ts';
import { IS_FULL } from '../random.ts';

/** The emitted suite of a configuration fails if one of these mistakes is made in it. */

const FIXTURES = join(import.meta.dirname, '../../fixtures');
const PEM = readFileSync(join(FIXTURES, 'every_module/partners.pem'), 'utf8');

const edgeFile = (text: string): object => {
  const value = parse(text) as { certificate_authorities?: object };
  return value.certificate_authorities === undefined
    ? value
    : { ...value, certificate_authorities: { partners: { ca_pem: PEM } } };
};
const policyFile = (text: string): object => {
  const edge = onePolicy(parse(text) as object);
  edge.edges.https.shop.hostports.push('*.test:443');
  return edge;
};

function configOf(value: object): EdgeConfig {
  const { config, diagnostics } = checkWholeEdge({ value });
  if (config === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return config;
}

/** The scenario that is emitted for an edge without cases. */
function emittedSuite(config: EdgeConfig): object {
  const covered = coveredEdge(edgeFixture(config, () => null));
  const found = findCases(covered, [], { signer: webhookSigner });
  const more = noticingCases(covered, found, [], { signer: webhookSigner });
  const { cases, identities } = emittedCases(covered, [...found, ...more], { edge: 'edge' });
  return { edge: 'edge', cases, ...(identities !== null && { identities }) };
}

function fails(suite: object, config: EdgeConfig): boolean {
  const checked = checkScenario({ value: suite, name: 'suite' });
  const { cases, diagnostics } = runFile(
    checked,
    edgeFixture(config, () => null),
    {
      ...ONCE,
      signer: webhookSigner,
    },
  );
  // A name that the changed edge does not have is an error in the suite.
  return hasErrors(diagnostics) || cases.some(({ status }) => status !== 'passed');
}

/** The other half of the range is denied by another rule, and addresses outside of all ranges are denied, too. */
const SAME_IN_SAMPLE = ['office: a longer mask'];

const FILES: readonly [string, string, (text: string) => object, readonly Mistake[], readonly string[]][] = [
  [
    'sample/edge.yaml',
    readFileSync(join(FIXTURES, 'sample/edge.yaml'), 'utf8'),
    edgeFile,
    IN_SAMPLE,
    SAME_IN_SAMPLE,
  ],
  ['a policy', SHOP, policyFile, IN_SHOP, []],
  [
    'every_module/edge.yaml',
    readFileSync(join(FIXTURES, 'every_module/edge.yaml'), 'utf8'),
    edgeFile,
    IN_EVERY_MODULE,
    [],
  ],
];

describe('the cases that are emitted fail after a mistake', () => {
  // The others take longer than all other tests of this room.
  it.each(FILES.slice(0, IS_FULL ? 3 : 1))('in %s', (_name, text, read, mistakes, equivalent) => {
    const config = configOf(read(text));
    const suite = emittedSuite(config);
    const survivors = mistakes.flatMap(({ name, from, to }) => {
      expect({ name, times: text.split(from).length - 1 }).toEqual({ name, times: 1 });
      return fails(suite, configOf(read(text.replace(from, () => to)))) ? [] : [name];
    });
    expect(survivors).toEqual(equivalent);
  });
});
