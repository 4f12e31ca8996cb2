import type { BenchResult } from '../result.ts';
import { htmlReport } from './html.ts';
import { markdownReport } from './markdown.ts';
import { prettyReport } from './pretty.ts';

// table: reporters of the `bench` verb, by name
export const REPORTS: Readonly<Record<string, (result: BenchResult, version: string) => string>> = {
  pretty: prettyReport,
  json: (result) => `${JSON.stringify(result, null, 2)}\n`,
  markdown: markdownReport,
  benchstat: benchstatReport,
  html: htmlReport,
};

/** One line per slice in the text format of Go benchmarks, which `benchstat` reads. */
function benchstatReport({ machine, file, rows, seed }: BenchResult): string {
  const lines = [`goos: ${machine.os}`, `cpu: ${machine.cpu}`, `pkg: ${file}`, `seed: ${seed}`];
  for (const { name, samples, bytesPerOp } of rows) {
    const title = `Benchmark/${name.replaceAll(/\s+/g, '_')}`;
    for (const ns of samples) lines.push(`${title}\t1\t${ns.toFixed(2)} ns/op\t${bytesPerOp} B/op`);
  }
  return `${lines.join('\n')}\n`;
}
