import { pathToFileURL } from 'node:url';

import { RE2 } from 're2-wasm';

import { compileUserAgents, isUserAgentRules } from '../src/filters/user_agent_filter/algorithm.ts';
import { type Pattern, type PatternProblem, compilePattern, isPatternProblem } from '../src/regex/pattern.ts';
import { compilePatternSet, isPatternSet } from '../src/regex/pattern_set.ts';
import { type BenchRow, type BenchSection, compare, render, row } from './measure.ts';

const AGENTS = Array.from(
  { length: 512 },
  (_, number) =>
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + (number % 50)}.0.${number}.0 Safari/537.36`,
);
const MASK = AGENTS.length - 1;

/** Names of robots, none of which occurs in a browser's value. */
function makePatterns(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `(?i)\\b(?:bot|crawl|spider)${number}/\\d+`);
}

function isPattern(answer: Pattern | PatternProblem): answer is Pattern {
  return !isPatternProblem(answer);
}

/**
 * User-agent patterns: one set in linear time, compared with one pattern after the other and a backtracking
 * alternation.
 */
export async function run(): Promise<BenchSection> {
  const rows: BenchRow[] = [];
  for (const count of [1, 10, 100]) {
    const sources = makePatterns(count);
    const set = compilePatternSet(sources);
    const agents = compileUserAgents({ allow: [], deny: sources });
    if (!isPatternSet(set) || !isUserAgentRules(agents))
      throw new Error('a pattern of the benchmark was refused');
    const singles = sources.map((source) => compilePattern(source)).filter(isPattern);
    const alternation = sources.map((source) => source.replace('(?i)', '')).join('|');
    const backtracking = new RegExp(alternation, 'i');
    const reference = new RE2(alternation, 'iu');
    const peers = {
      'one by one': (turn: number) => singles.findIndex((pattern) => pattern.test(AGENTS[turn & MASK]!)),
      'V8 alternation': (turn: number) => backtracking.test(AGENTS[turn & MASK]!),
      're2-wasm': (turn: number) => reference.test(AGENTS[turn & MASK]!),
    };
    rows.push(
      row(`${count} patterns, a set`, compare({ ours: (turn) => set.first(AGENTS[turn & MASK]!), ...peers })),
      row(
        `${count} patterns, values seen before`,
        compare({ ours: (turn) => agents.decide(AGENTS[turn & MASK]) }),
      ),
    );
  }
  const hostile = compilePattern('(a+)+$');
  if (isPatternProblem(hostile)) throw new Error(hostile.message);
  const subject = `${'a'.repeat(22)}!`;
  const backtracking = /(a+)+$/;
  rows.push(
    row(
      '(a+)+$ on 22 × a',
      compare({ ours: () => hostile.test(subject), V8: () => backtracking.test(subject) }),
    ),
  );
  return {
    title: 'Patterns on user agents',
    rows,
    notes: ['512 different values in turn'],
    between: 'a step of the automaton for each character, which backtracking may skip, but not bound',
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(render(await run()));
