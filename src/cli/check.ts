import { type Command, InvalidArgumentError, Option } from 'commander';
import { ENDPOINT_KINDS, type Plan } from '../policy/document/setting.ts';
import { CHECK_REPORTERS } from './check_reports.ts';
import { type CheckOptions, check } from './check_files.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { serviceNameOption } from './service_name.ts';
import { reporterOption } from './reporter_option.ts';
import { USUAL_FOLDER } from './usual_files.ts';

export function register(command: Command): void {
  const does = 'how to print the findings; `github` writes annotations and the summary of the step';
  reporterOption(serviceNameOption(command), CHECK_REPORTERS, { does })
    .argument(
      '[file...]',
      "edge files, policies or scenario files in YAML or JSON, folders with them, or patterns such as 'edges/*.yaml'; edge files also in TypeScript or JavaScript; default: this folder",
    )
    .option('--strict', 'also warn about what works here but is not documented by the service')
    .option('--exact', 'report what no request can reach, what has no effect, and ways around gates')
    .option(
      '--session-bound <seconds>',
      'report logins with sessions that outlast the loss of access by more than this; implies --exact',
      secondsOf,
    )
    .option('--fix', 'apply the fixes that are sure to keep the meaning, and check the result')
    .addOption(
      new Option(
        '--as <endpoint>',
        'kind of endpoint that the policies are for: an edge, or an endpoint of the service',
      ).choices(ENDPOINT_KINDS.filter((name) => name !== 'http')),
    )
    .option(
      '--plan <limits>',
      'limits of an account, such as rules=5,expressions=3,actions=3,without=circuit-breaker',
      planOf,
    )
    .action(async (files: string[], options: CheckOptions) => {
      process.exitCode = await check(files.length === 0 ? [USUAL_FOLDER] : files, options);
    });
}

function secondsOf(written: string): number {
  if (!/^\d{1,9}$/.test(written)) throw new InvalidArgumentError('write a number of seconds.');
  return Number(written);
}

/** Parses `rules=5,expressions=3,actions=3,without=oauth`. */
function planOf(written: string): Plan {
  const plan = readPlan(written);
  if (plan === null) throw new InvalidArgumentError('write a plan as rules=5,expressions=3,without=oauth.');
  return plan;
}

/** Parses a plan such as `rules=5,expressions=3,actions=3,without=oauth`; null for anything else. */
function readPlan(written: string): Plan | null {
  const counts: Record<string, number> = {};
  const withoutActions: string[] = [];
  for (const part of written.split(',')) {
    const [key = '', value = ''] = part.split('=').map((each) => each.trim());
    if (key === 'without' && ACTION_FACTS.has(value)) withoutActions.push(value);
    else if (Object.hasOwn(COUNTS, key) && /^\d{1,6}$/.test(value)) counts[COUNTS[key]!] = Number(value);
    else return null;
  }
  return { ...counts, withoutActions };
}

const COUNTS: Readonly<Record<string, keyof Plan>> = {
  rules: 'rulesPerPolicy',
  expressions: 'expressionsPerRule',
  actions: 'actionsPerRule',
};
