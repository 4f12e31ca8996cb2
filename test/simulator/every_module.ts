import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { type CheckedScenario, checkScenario } from '../../src/simulator/document/check.ts';
import type { FileResult } from '../../src/simulator/result.ts';
import { type FileOptions, runFile, ONCE } from '../../src/simulator/run_file.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { webhookSigner } from '../../src/simulator/webhook_signer.ts';

const FOLDER = fileURLToPath(new URL('../../fixtures/every_module/', import.meta.url));
/** The authority is a file beside the edge, which only the command reads. */
const TEXT = readFileSync(`${FOLDER}edge.yaml`, 'utf8').replace(
  'ca_file: partners.pem',
  `ca_pem: ${JSON.stringify(readFileSync(`${FOLDER}partners.pem`, 'utf8'))}`,
);
const checked = checkWholeEdge({ name: 'edge.yaml', text: TEXT });
/** The edge with every module. */
export const everyModule = edgeFixture(checked.config!, checked.locate);

/** The scenarios that were written by hand: generated ones would detect everything. Logins take longest. */
export const FILES = ['pages', 'connections', 'logins'] as const;

export function textOf(name: string): string {
  return readFileSync(`${FOLDER}${name}.scenario.yaml`, 'utf8');
}

/** Runs the cases of a file against the edge with every module. */
export function runEvery(text: string, options?: Partial<FileOptions>): FileResult {
  return runChecked(checkScenario({ name: 'x.yaml', text }), options);
}

/** Runs the cases of a checked file, which may run often. */
export function runChecked(scenario: CheckedScenario, options: Partial<FileOptions> = {}): FileResult {
  return runFile(scenario, everyModule, { ...ONCE, ...options, signer: webhookSigner });
}
