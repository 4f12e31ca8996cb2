import type { Command } from 'commander';
import { certifyEquivalence } from '../analysis/certify.ts';
import type { Comparison } from '../analysis/comparison.ts';
import { diff } from '../analysis/blame.ts';
import { diffAnnotations, diffData, diffMarkdown, diffText } from '../analysis/report_diff.ts';
import { diffPage } from '../analysis/report_diff_page.ts';
import { type DiffNames, diffSarif } from '../analysis/report_diff_sarif.ts';
import { EDGE_NAMES, loadEdges } from './edge_source.ts';
import { writeCertificates } from './certificates.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { readCount } from './option_values.ts';
import { printReport } from './terminal.ts';
import { packageVersion } from './version.ts';
import { reporterOption } from './reporter_option.ts';

type Reporter = (comparison: Comparison, names: DiffNames) => string;

const REPORTERS = {
  text: diffText,
  json: (comparison) => `${JSON.stringify(diffData(comparison), null, 2)}\n`,
  markdown: diffMarkdown,
  sarif: (comparison, names) => `${JSON.stringify(diffSarif(comparison, names), null, 2)}\n`,
  github: diffAnnotations,
  html: diffPage,
} satisfies Readonly<Record<string, Reporter>>;

interface Options extends ServiceOptions {
  readonly reporter: keyof typeof REPORTERS;
  readonly maxUndecided: number;
  readonly certificate?: string;
}

export function register(command: Command): void {
  const does =
    'how to print the differences; `markdown` is a comment on a pull request, `github` writes annotations';
  reporterOption(command, Object.keys(REPORTERS), { does })
    .argument('<old>', EDGE_NAMES)
    .argument('<new>', 'edge file, revision or URL to compare with it')
    .option(
      '--max-undecided <count>',
      'exit with 7 if more classes of requests are undecided',
      readCountOrZero,
      0,
    )
    .option('--certificate <file>', 'write a proof of equivalence with all classes, for `verify-proof`');
  serviceNameOption(command).action(async (old: string, next: string, options: Options) => {
    process.exitCode = await compareEdges(old, next, options);
  });
}

async function compareEdges(old: string, next: string, options: Options): Promise<number> {
  const { reporter, maxUndecided } = options;
  const edges = await loadEdges([old, next], options);
  if (edges === null) return EXIT.configInvalid;
  const [before, after] = edges;
  const comparison = diff(before!, after!);
  printReport(
    reporter,
    REPORTERS[reporter](comparison, { before: old, after: next, version: packageVersion() }),
  );
  if (comparison.changes.length > 0) return EXIT.differs;
  if (options.certificate !== undefined && comparison.verdict === 'equivalent') {
    const make = (hashes: readonly string[]) => certifyEquivalence(before!, after!, hashes);
    const configs = [before!.config, after!.config];
    const proofs = [{ name: 'the configurations are equivalent', make }];
    if (!writeCertificates(options.certificate, [old, next], configs, proofs)) return EXIT.unknown;
  }
  return comparison.undecided.length > maxUndecided ? EXIT.unknown : EXIT.ok;
}

function readCountOrZero(text: string): number {
  return text === '0' ? 0 : readCount(text);
}
