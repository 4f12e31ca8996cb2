import { writeText } from '../write_file.ts';
import type { CaseResult, FileResult, Summary } from '../../simulator/result.ts';
import { loadReporter } from '../../simulator/report/load.ts';
import { type Origin, REPORTERS, type Reporter, type ReporterName } from '../../simulator/report/reporter.ts';
import { packageVersion } from '../version.ts';
import { wantsColor } from '../terminal.ts';
import { stdout } from '../output.ts';

/** A requested report: its kind, and its file unless it goes to standard output. */
export interface AskedReport {
  readonly name: ReporterName;
  readonly path: string | null;
}

/** Reads `name` or `name=path`. */
export function readReport(text: string): AskedReport | { readonly problem: string } {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const known = REPORTERS.find((each) => each === name);
  if (known === undefined)
    return { problem: `there is no reporter '${name}'; choose from ${REPORTERS.join(', ')}` };
  return { name: known, path: equals < 0 ? null : text.slice(equals + 1) };
}

/** All reports of a run. */
export interface Reports {
  readonly ran: (result: CaseResult) => void;
  readonly finished: (files: readonly FileResult[], summary: Summary) => void;
}

interface Open {
  readonly reporter: Reporter;
  readonly write: (text: string) => void;
  readonly path: string | null;
  readonly kept: string[];
}

/** Standard output is written in chunks of this size: a write per case would cost more than the case. */
const PIECE = 16_384;

/** Opens the requested reports; those to files are written at the end. */
export async function openReports(asked: readonly AskedReport[], seed: Origin['seed']): Promise<Reports> {
  const origin: Origin = { version: packageVersion(), seed };
  let waiting = '';
  const flush = () => {
    if (waiting !== '') stdout.write(waiting);
    waiting = '';
  };
  const toStdout = (text: string): void => {
    waiting += text;
    if (waiting.length > PIECE) flush();
  };
  const open: Open[] = [];
  for (const { name, path } of asked) {
    const kept: string[] = [];
    const color = path === null && wantsColor(stdout);
    const write = path === null ? toStdout : (text: string) => void kept.push(text);
    open.push({ reporter: await loadReporter(name, { color }), write, path, kept });
  }
  for (const { reporter, write } of open) if (reporter.began !== undefined) write(reporter.began(origin));
  return {
    ran: (result) => {
      for (const { reporter, write } of open) if (reporter.ran !== undefined) write(reporter.ran(result));
    },
    finished: (files, summary) => {
      for (const { reporter, write, path, kept } of open) {
        write(reporter.finished(files, summary, origin));
        if (path !== null) writeText(path, kept.join(''));
      }
      flush();
    },
  };
}
