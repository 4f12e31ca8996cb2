import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type BenchSection, render, renderMarkdown } from './measure.ts';

/** All sections, one after the other in this process: `npm run bench`, or `npm run bench -- cidr regex`. */
const SECTIONS: Readonly<Record<string, () => Promise<{ run: () => Promise<BenchSection> }>>> = {
  decisions: () => import('./decisions.ts'),
  expression: () => import('./expression.ts'),
  policy: () => import('./policy.ts'),
  webhook: () => import('./webhook.ts'),
  login: () => import('./login.ts'),
  scenarios: () => import('./scenarios.ts'),
  replay: () => import('./replay.ts'),
  api: () => import('./api.ts'),
  cidr: () => import('./cidr.ts'),
  regex: () => import('./regex.ts'),
  analysis: () => import('./analysis.ts'),
  agents: () => import('./agents.ts'),
  browser: () => import('./browser.ts'),
  editor: () => import('./editor.ts'),
  inspector: () => import('./inspector.ts'),
  ingress: () => import('./ingress/run.ts'),
};
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url));

const asked = process.argv.slice(2);
// The ingress has arguments of its own, and tables of its own when it is asked for alone.
if (asked[0] === 'ingress' && asked.slice(1).every((argument) => !Object.hasOwn(SECTIONS, argument))) {
  const { main } = await import('./ingress/run.ts');
  process.exit(await main(asked.slice(1)));
}
const unknown = asked.filter((name) => !Object.hasOwn(SECTIONS, name));
if (unknown.length > 0) {
  process.stderr.write(`no section ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}\n`);
  process.exit(2);
}
const at = dateAndCommit();
const machine = `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${process.platform} ${release()}`;
process.stdout.write(`${machine}\n`);
const parts: string[] = [];
for (const [name, load] of Object.entries(SECTIONS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const section = await (await load()).run();
  process.stdout.write(`\n${render(section)}`);
  parts.push(`${renderMarkdown(section)}\n\`npm run bench -- ${name}\`\n`);
  // Results of single sections would not be of one run. Each is saved as soon as it is measured.
  if (asked.length === 0) writeFileSync(RESULTS, `${headFor(machine)}\n${parts.join('\n')}`);
}

function headFor(on: string): string {
  return `# Results

All of one run of \`npm run bench\`, written by it. Machines are noisy: ratios count. Behind each peer stands what it takes,
as a multiple of ours, and in brackets the 98 % interval of that ratio over the rounds, where both took turns.

${on}, ${at}
`;
}

/** The day, and the commit with a sign if files differ from it. */
function dateAndCommit(): string {
  const commit = execFileSync('git', ['describe', '--always', '--dirty=+', '--exclude=*'], {
    encoding: 'utf8',
  });
  return `${new Date().toISOString().slice(0, 10)}, commit ${commit.trim()}`;
}
