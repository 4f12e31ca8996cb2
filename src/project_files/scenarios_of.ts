import { dirname, extname, relative, resolve } from 'node:path';
import { checkScenario } from '../simulator/document/check.ts';
import { kindOfFile, otherFile } from './file_kind.ts';
import { FILES_BESIDE, besideName } from './files_beside.ts';
import { FileError, SCRIPTS, importDefault, readText } from './load_config.ts';
import { isPlain } from '../edge/document/written_policies.ts';
import { isDocumentName } from '../config_file/document.ts';

/** Whether a file is an edge file or a policy, which scenario files test. Throws FileError. */
export async function isTested(path: string): Promise<boolean> {
  if (!isDocumentName(path)) return false;
  return (await kindOfFile(readText(path))) !== 'scenario';
}

/** Those of the scenario files that test this edge file or policy. Throws FileError if there are none. */
export async function scenariosOf(path: string, scenarios: readonly string[]): Promise<readonly string[]> {
  const wanted = resolve(path);
  const found: string[] = [];
  for (const scenario of scenarios) {
    const given = SCRIPTS.has(extname(scenario))
      ? { value: await importDefault(scenario), name: scenario }
      : { name: scenario, text: readText(scenario) };
    const { scenario: sound, document } = checkScenario(given, FILES_BESIDE);
    // A file with errors still says what it is about, and is run to report them.
    const shell = sound?.shell ?? (isPlain(document.value) ? document.value : {});
    const named = shell['edge'] ?? shell['policy'];
    if (typeof named === 'string' && resolve(besideName(scenario, named)) === wanted) found.push(scenario);
  }
  if (found.length > 0) return found;
  const text = readText(path);
  const other = otherFile(text);
  if (other !== undefined) throw new FileError(`cannot test ${path}: ${other.message}; ${other.hint!}`);
  const key = (await kindOfFile(text)) === 'policy' ? 'policy' : 'edge';
  const from = relative('.', dirname(wanted)) || 'this folder';
  throw new FileError(
    `no scenario file in ${from} tests ${path}; write a *.scenario.yaml with \`${key}: ${relative(dirname(wanted), wanted)}\` and \`cases\``,
  );
}
