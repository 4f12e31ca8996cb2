import { availableParallelism, cpus } from 'node:os';
import { type BenchSection, render } from './measure.ts';

/** All sections, one after the other in this process: `npm run bench`, or `npm run bench -- cidr regex`. */
const SECTIONS: Readonly<Record<string, () => Promise<{ run: () => Promise<BenchSection> }>>> = {
  decisions: () => import('./decisions.ts'),
  expression: () => import('./expression.ts'),
  policy: () => import('./policy.ts'),
  webhook: () => import('./webhook.ts'),
  scenarios: () => import('./scenarios.ts'),
  api: () => import('./api.ts'),
  cidr: () => import('./cidr.ts'),
  regex: () => import('./regex.ts'),
  ingress: () => import('./ingress/run.ts'),
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(SECTIONS, name));
if (unknown.length > 0) {
  process.stderr.write(`no section ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}\n`);
  process.exit(2);
}
process.stdout.write(
  `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}\n`,
);
for (const [name, load] of Object.entries(SECTIONS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const section = await (await load()).run();
  process.stdout.write(`\n${render(section)}`);
}
