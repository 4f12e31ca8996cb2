import { extname } from 'node:path';
import { type EmittedCases, scenarioText } from '../../simulator/search/emit.ts';
import { FileError } from '../../project_files/load_config.ts';
import type { RecordedEdge } from '../../project_files/coverage_records.ts';
import { testedBy } from '../../project_files/offered_scenario.ts';
import { writeText } from '../write_file.ts';
import { counted } from '../../diagnostics/message_text.ts';
import { stderr } from '../output.ts';

/** Writes the cases of all edges: to one file, or to one file per edge. */
export async function writeCases(
  offers: readonly { readonly recorded: RecordedEdge; readonly emitted: EmittedCases }[],
  path: string,
): Promise<void> {
  const extension = extname(path);
  if (!['.yaml', '.yml', '.json'].includes(extension))
    throw new FileError(`${path} cannot be a scenario file; use a name that ends in .yaml or .json`);
  const own = offers.filter(({ emitted }) => emitted.cases.length > 0);
  if (own.length === 0) stderr.write('found no case that increases coverage\n');
  for (const [index, { recorded, emitted }] of own.entries()) {
    const file = index === 0 ? path : numbered(path, index + 1);
    const form = extension === '.json' ? 'json' : 'yaml';
    writeText(file, scenarioText(emitted, testedBy(recorded.first, file), form));
    const { cases, points } = emitted;
    stderr.write(
      `${file}: ${counted(cases.length, 'case')} for ${counted(points.length, 'point')} of ${recorded.first.edgeName}\n`,
    );
  }
}

/** `a.scenario.yaml` → `a.2.scenario.yaml`. */
function numbered(path: string, number: number): string {
  return path.replace(/((?:\.scenario)?\.\w+)$/, `.${number}$1`);
}
