import { type Command, InvalidArgumentError, Option } from 'commander';
import { readPlan } from '../policy/document/plan.ts';
import { CARRIERS, type Plan } from '../policy/document/setting.ts';
import { type CheckOptions, check } from './check_files.ts';

export function register(program: Command): void {
  program
    .command('check')
    .description('Check edge files and traffic policies; exit code 3 if one has errors')
    .argument(
      '<file...>',
      'edge files or policies in YAML or JSON; edge files also in TypeScript or JavaScript',
    )
    .option('--json', 'print the findings as JSON')
    .option('--strict', 'also warn about what works here but is not documented by the service')
    .option('--fix', 'apply the fixes that are sure to keep the meaning, and check the result')
    .addOption(
      new Option(
        '--as <carrier>',
        'kind of endpoint that the policies are for: an edge, or an endpoint of the service',
      ).choices(CARRIERS.filter((name) => name !== 'http')),
    )
    .option(
      '--plan <limits>',
      'limits of an account, such as rules=5,expressions=3,actions=3,without=circuit-breaker',
      planOf,
    )
    .action(async (files: string[], options: CheckOptions) => {
      process.exitCode = await check(files, options);
    });
}

/** Parses `rules=5,expressions=3,actions=3,without=oauth`. */
function planOf(written: string): Plan {
  const plan = readPlan(written);
  if (plan === null) throw new InvalidArgumentError('write a plan as rules=5,expressions=3,without=oauth.');
  return plan;
}
