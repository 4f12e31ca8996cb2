import { beforeAll, expect, test } from 'vitest';
import type { CaseResult } from '../../src/simulator/result.ts';
import { type Engine, bundledEngine } from './bundled_engine.ts';
import { SCENARIOS, TEXTS, inNode, told } from './fixtures.ts';
import { hasLibrariesFor, hasProgram, requirePeer } from '../peers.ts';

let code: string;
let engine: Engine;

beforeAll(async () => {
  ({ code, engine } = await bundledEngine());
});

test('there are scenarios', () => {
  expect(SCENARIOS.length).toBeGreaterThan(8);
});

test.each(SCENARIOS)('%s: every case has the same trace without Node', async (scenario) => {
  const node = await inNode(scenario);
  const page = await engine.decideCases(TEXTS, scenario);
  expect(page.diagnostics).toEqual(node.diagnostics);
  expect(told(page.cases)).toBe(told(node.cases));
});

const CHROMIUM = '/usr/bin/chromium';
const hasChromium =
  hasLibrariesFor('the engine in a browser') &&
  hasProgram(CHROMIUM, ['--version'], 'the engine in a browser');

/** What is used of playwright-core, which is a peer. */
interface Page {
  readonly evaluate: (code: string) => Promise<unknown>;
}
interface Playwright {
  readonly chromium: {
    readonly launch: (options: { executablePath: string; args: readonly string[] }) => Promise<{
      readonly newPage: () => Promise<Page>;
      readonly close: () => Promise<void>;
    }>;
  };
}

test.skipIf(!hasChromium)('every case has the same trace in Chromium', async () => {
  const { chromium } = requirePeer('playwright-core') as Playwright;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.evaluate(`${code};globalThis.engine = engine; 0`);
    await page.evaluate(`globalThis.texts = ${JSON.stringify(TEXTS)}; 0`);
    for (const scenario of SCENARIOS) {
      const cases = await page.evaluate(
        `engine.decideCases(texts, ${JSON.stringify(scenario)}).then(({ cases }) => cases)`,
      );
      expect([scenario, told(cases as readonly CaseResult[])]).toEqual([
        scenario,
        told((await inNode(scenario)).cases),
      ]);
    }
  } finally {
    await browser.close();
  }
});
