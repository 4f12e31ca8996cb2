import { dirname, extname, relative, resolve } from 'node:path';
import { type Tested, scenarioText } from '../simulator/search/emit.ts';
import type { WrittenCase } from '../simulator/search/write_case.ts';
import { type LoadedScenario, scenarioLoader } from './load_scenario.ts';

/** What a scenario file at `path` names as under test; with null, the name in this process. */
export function testedBy({ checked, edgeName }: LoadedScenario, path: string | null): Tested {
  const { shell } = checked.scenario!;
  const own = shell.edge === undefined ? { policy: shell.policy } : { edge: shell.edge };
  // Policies read them, and the scenario file must have them, too.
  const secrets = shell.secrets === undefined ? {} : { secrets: shell.secrets };
  const [key, value] = Object.entries(own)[0]!;
  if (typeof value !== 'string' || path === null) return { ...own, ...secrets };
  return { [key]: nameBeside(path, edgeName), ...secrets } as unknown as Tested;
}

/** The name of a file in a file at `path`. */
export function nameBeside(path: string, file: string): string {
  const beside = relative(dirname(resolve(path)), resolve(file));
  return beside.startsWith('.') ? beside : `./${beside}`;
}

/** The text of a scenario file at `path` with further cases for the edge that another one tests. */
export async function scenarioOfCases(
  scenario: string,
  path: string,
  cases: readonly WrittenCase[],
): Promise<string> {
  return casesText(cases, testedBy(await scenarioLoader()(scenario), path), path);
}

/** Cases as the text of a scenario file at `path`, with a comment about them; equal names get numbers. */
export function casesText(
  cases: readonly WrittenCase[],
  tested: Tested,
  path: string,
  comment?: string,
): string {
  const counts = new Map<string, number>();
  const named = cases.map((each) => {
    const count = (counts.get(each.name) ?? 0) + 1;
    counts.set(each.name, count);
    return count === 1 ? each : Object.assign({}, each, { name: `${each.name} (${count})` });
  });
  return scenarioText(
    { cases: named, identities: null },
    tested,
    extname(path) === '.json' ? 'json' : 'yaml',
    comment,
  );
}
