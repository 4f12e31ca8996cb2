import { printFindings } from './terminal.ts';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { environmentSecrets } from './environment_secrets.ts';
import { timedWatch } from './timed_watch.ts';
import { nearName } from './near_names.ts';
import type { ServiceOptions } from './service_name.ts';
import { type ExplainedCase, explainCaseOf } from '../project_files/explained_case.ts';
import { FileError } from '../project_files/load_config.ts';
import { scenarioLoader } from '../project_files/load_scenario.ts';

/** A case with the results of its run, and how long the evaluation of its expressions took. */
export type TimedCase = ExplainedCase & { readonly times: () => string };

const SHOWN = 8;

/** Runs the case of that name; null when the file has errors, which are printed. */
export async function explainedCase(
  path: string,
  name: string | undefined,
  { serviceName }: ServiceOptions,
): Promise<TimedCase | null> {
  const loaded = await scenarioLoader({ serviceName })(path);
  const { checked, findings } = loaded;
  const all: Diagnostic[] = [...checked.diagnostics, ...findings];
  const names = checked.scenario?.cases.map((each) => each.name) ?? null;
  if (name === undefined) {
    const there =
      names === null ? '' : `: ${names.slice(0, SHOWN).join(', ')}${names.length > SHOWN ? ' …' : ''}`;
    throw new FileError(`name a case of ${path} with --case${there}`);
  }
  if (names !== null && !names.includes(name))
    throw new FileError(`${path} has no case '${name}'; ${nearName(name, names)}`);
  let timed: ReturnType<typeof timedWatch> | null = null;
  const around = (watch: Parameters<typeof timedWatch>[0]) => {
    timed = timedWatch(watch);
    return timed.watch;
  };
  const explained = await explainCaseOf(
    loaded,
    name,
    { secrets: environmentSecrets(process.env), around },
    all,
  );
  if (explained !== null) return { ...explained, times: () => timed?.text() ?? '' };
  printFindings(all);
  if (!hasErrors(all)) throw new FileError(`the case '${name}' of ${path} cannot be run`);
  return null;
}
