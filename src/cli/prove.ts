import { existsSync, readdirSync } from 'node:fs';
import type { Command } from 'commander';
import { certifyProperty } from '../analysis/certify.ts';
import { prove } from '../analysis/prove.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { usable } from '../edgeproof.ts';
import { besideName } from '../project_files/files_beside.ts';
import { FileError, readText } from '../project_files/load_config.ts';
import { propertiesIn, readProperties } from '../project_files/property_file.ts';
import { type ProvedProperty, proofsJson, proofsJunit, proofsText } from '../project_files/proof_report.ts';
import { writeCertificates } from './certificates.ts';
import { EDGE_NAMES, loadEdge } from './edge_source.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { addText } from './option_values.ts';
import { printFindings, printLines } from './terminal.ts';
import { writeText } from './write_file.ts';
import { counted } from '../diagnostics/message_text.ts';
import { reporterOption } from './reporter_option.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { stderr } from './output.ts';

const REPORTERS = { text: proofsText, json: proofsJson, junit: proofsJunit };

interface Options extends ServiceOptions {
  readonly properties: readonly string[];
  readonly reporter: keyof typeof REPORTERS;
  readonly emitCases?: string;
  readonly certificate?: string;
}

const PROPERTY_FILE = /\.property\.(?:ya?ml|json)$/;

export function register(command: Command): void {
  reporterOption(command, Object.keys(REPORTERS))
    .argument('[file]', `${EDGE_NAMES}; or a property file that names its edge${usualText('edge')}`)
    .option(
      '--properties <file>',
      'file with properties; can be repeated; default: the `properties` of the edge file, and all *.property.yaml of this folder',
      addText,
      [],
    )
    .option('--emit-cases <file>', 'write a scenario file with a case for each refuted property')
    .option('--certificate <file>', 'write what is proved with all classes of requests, for `verify-proof`');
  serviceNameOption(command).action(async (file: string | undefined, options: Options) => {
    process.exitCode = await proveAll(file, options);
  });
}

async function proveAll(file: string | undefined, options: Options): Promise<number> {
  const { reporter, emitCases, certificate } = options;
  const paths = propertyFiles(file, options.properties);
  const read = paths.map((path) =>
    Object.assign({ path }, readProperties({ name: path, text: readText(path) })),
  );
  const findings = read.flatMap(({ diagnostics }) => diagnostics);
  printFindings(findings);
  if (hasErrors(findings)) return EXIT.configInvalid;
  const named = read.flatMap(({ path, edge }) => (edge === null ? [] : [besideName(path, edge)]));
  const edge = file === undefined || PROPERTY_FILE.test(file) ? namedOrUsual(named[0], 'edge') : file;
  const checked = await loadEdge(edge, options);
  printFindings(checked.diagnostics);
  if (hasErrors(checked.diagnostics)) return EXIT.configInvalid;
  const { config, locate } = usable(checked);
  const own = isPropertyFile(file) || options.properties.length > 0 ? [] : propertiesIn(checked);
  const all = [{ path: edge, properties: own }, ...read];
  if (all.every(({ properties }) => properties === null || properties.length === 0))
    throw new FileError(
      `there are no properties to prove: ${edge} has no \`properties\`, and this folder has no *.property.yaml; write one, or name a file with --properties`,
    );
  const proved = all.flatMap(({ path, properties }) =>
    (properties ?? []).map((property): ProvedProperty => ({
      property,
      file: path,
      proof: prove(config, property, locate),
    })),
  );
  printLines(REPORTERS[reporter](proved));
  if (emitCases !== undefined) {
    const { counterexamples } = await import('../project_files/counterexamples.ts');
    const { text, count } = counterexamples(config, proved, emitCases, edge);
    writeText(emitCases, text);
    stderr.write(`${emitCases}: ${counted(count, 'case')}\n`);
  }
  const verdicts = new Set(proved.map(({ proof }) => proof.verdict));
  if (verdicts.has('INVALID')) return EXIT.configInvalid;
  const isWritten =
    certificate === undefined ||
    writeCertificates(
      certificate,
      [edge],
      [config],
      proved.map(({ property, proof }) => {
        const make = (hashes: readonly string[]) => certifyProperty(config, property, hashes);
        return { name: property.name, make: proof.verdict === 'PROVED' ? make : null };
      }),
    );
  if (verdicts.has('REFUTED')) return EXIT.refuted;
  return verdicts.has('UNDECIDED') || !isWritten ? EXIT.unknown : EXIT.ok;
}

function propertyFiles(file: string | undefined, given: readonly string[]): readonly string[] {
  if (isPropertyFile(file)) return [file!, ...given];
  if (given.length > 0) return given;
  return readdirSync('.')
    .filter((name) => PROPERTY_FILE.test(name))
    .sort();
}

function isPropertyFile(file: string | undefined): boolean {
  return file !== undefined && PROPERTY_FILE.test(file) && existsSync(file);
}
