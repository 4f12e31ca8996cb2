import type { BenchResult } from '../result.ts';

/** One line per slice in the text format of Go benchmarks, which `benchstat` reads. */
export function benchstatReport({ machine, file, rows, seed }: BenchResult): string {
  const lines = [`goos: ${machine.os}`, `cpu: ${machine.cpu}`, `pkg: ${file}`, `seed: ${seed}`];
  for (const { name, samples, bytesPerOp } of rows) {
    const title = `Benchmark/${name.replaceAll(/\s+/g, '_')}`;
    for (const ns of samples) lines.push(`${title}\t1\t${ns.toFixed(2)} ns/op\t${bytesPerOp} B/op`);
  }
  return `${lines.join('\n')}\n`;
}
