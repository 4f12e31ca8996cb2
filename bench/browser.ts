import { createRequire } from 'node:module';
import { rolldown } from 'rolldown';
import { PAGE_SCRIPT } from '../rolldown.pages.ts';
import { EXAMPLES } from '../src/playground/ui/examples.ts';
import { type BenchSection, figure } from './measure.ts';

/** What is used of playwright-core, which is a peer. */
interface Playwright {
  readonly chromium: {
    readonly launch: (options: { executablePath: string; args: readonly string[] }) => Promise<{
      readonly newPage: () => Promise<{ readonly evaluate: (code: string) => Promise<unknown> }>;
      readonly close: () => Promise<void>;
    }>;
  };
}

const peers = createRequire(new URL('../peers/package.json', import.meta.url));

/** Decisions of the engine in Chromium, as pages have it. */
export async function run(): Promise<BenchSection> {
  const build = await rolldown({ ...PAGE_SCRIPT, input: 'bench/browser/decide.ts', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'iife', name: 'bench', codeSplitting: false });
  const { chromium } = peers('playwright-core') as Playwright;
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.evaluate(`${output[0].code};globalThis.bench = bench; 0`);
    const rows = [];
    for (const { title, texts } of EXAMPLES) {
      for (const depth of ['decision', 'trace'] as const) {
        const rate = await page.evaluate(
          `bench.decisionsPerSecond(${JSON.stringify(texts)}, ${JSON.stringify(depth)})`,
        );
        const what = depth === 'trace' ? 'with its event and full trace' : 'alone';
        rows.push(figure(`${title}: a decision ${what}`, Math.round(rate as number), 'decisions/s'));
      }
    }
    return {
      title: 'The engine in Chromium',
      rows,
      between: 'the decision itself: a turn of an empty loop takes no more than a nanosecond',
      notes: ['Elapsed time, in one page: more is better.'],
    };
  } finally {
    await browser.close();
  }
}
