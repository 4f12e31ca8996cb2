import type { BenchResult } from '../result.ts';
import { benchstatReport } from './benchstat.ts';
import { htmlReport } from './html.ts';
import { markdownReport } from './markdown.ts';
import { prettyReport } from './pretty.ts';

// table: reporters of the `bench` verb, by name
export const REPORTS: Readonly<Record<string, (result: BenchResult) => string>> = {
  pretty: prettyReport,
  json: (result) => `${JSON.stringify(result, null, 2)}\n`,
  markdown: markdownReport,
  benchstat: benchstatReport,
  html: htmlReport,
};
