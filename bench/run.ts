import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { errorText } from '../src/diagnostics/message_text.ts';
import { type BenchSection, render, renderMarkdown } from './measure.ts';

/**
 * All sections, one after the other in this process: `npm run bench`, or `npm run bench -- cidr regex`. All of them write
 * RESULTS.md; `--out` names another file, and `--quick` measures just enough to show that all of it works.
 */
const SECTIONS: Readonly<Record<string, () => Promise<{ run: () => Promise<BenchSection> }>>> = {
  decisions: () => import('./decisions.ts'),
  expression: () => import('./expression.ts'),
  policy: () => import('./policy.ts'),
  webhook: () => import('./webhook.ts'),
  login: () => import('./login.ts'),
  scenarios: () => import('./scenarios.ts'),
  commands: () => import('./commands.ts'),
  replay: () => import('./replay.ts'),
  api: () => import('./api.ts'),
  cidr: () => import('./cidr.ts'),
  regex: () => import('./regex.ts'),
  analysis: () => import('./analysis.ts'),
  agents: () => import('./agents.ts'),
  browser: () => import('./browser.ts'),
  editor: () => import('./editor.ts'),
  inspector: () => import('./inspector.ts'),
  shared_state: () => import('./shared_state/run.ts'),
  scaling: () => import('./shared_state/scaling.ts'),
  ingress: () => import('./ingress/run.ts'),
};
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url));

const first = process.argv[2];
const known = (name: string): boolean => Object.hasOwn(SECTIONS, name);
// The ingress has arguments of its own, and tables of its own when it is asked for alone.
if (first === 'ingress' && !process.argv.slice(3).some(known) && !process.argv.includes('--out')) {
  const { main } = await import('./ingress/run.ts');
  process.exit(await main(process.argv.slice(3)));
}
const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string' }, quick: { type: 'boolean', default: false } },
});
const unknown = asked.filter((name) => !known(name));
if (unknown.length > 0) {
  process.stderr.write(`no section ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}\n`);
  process.exit(2);
}
// Results of single sections, or of the smallest sizes, would not be those of the page.
const out = options.out ?? (asked.length === 0 && !options.quick ? RESULTS : null);
const at = dateAndCommit();
const machine = `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${process.platform} ${release()}`;
process.stdout.write(`${machine}, ${at}\n`);
const parts: string[] = [];
for (const [name, load] of Object.entries(SECTIONS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const section = await measured(name, load);
  process.stdout.write(`\n${render(section)}`);
  parts.push(`${renderMarkdown(section)}\n\`npm run bench -- ${name}\`\n`);
  // Each is saved as soon as it is measured.
  if (out !== null) writeFileSync(out, `${headFor(machine)}\n${parts.join('\n')}`);
}

/** One that fails says so, and the others are measured. */
async function measured(name: string, load: (typeof SECTIONS)[string]): Promise<BenchSection> {
  try {
    return await (await load()).run();
  } catch (error) {
    process.exitCode = 1;
    return { title: name, rows: [], notes: [`FAILED: ${errorText(error)}`] };
  }
}

function headFor(on: string): string {
  return `# Results

All of one run of \`npm run bench\`, written by it. Machines are noisy: ratios count. Behind the floor and each peer stands what
it takes, as a multiple of ours, and in brackets the least and the largest of that ratio over the rounds, where both took
turns: with seven the 98 % interval of its median. A floor does only what has to be done in any case, or nothing.

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
