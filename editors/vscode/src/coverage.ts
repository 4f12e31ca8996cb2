import { resolve } from 'node:path';
import * as vscode from 'vscode';
import { folderOf, jsonOf, runFor } from './project';
import type { CoverPoint, CoverReport } from './reports';

const details = new WeakMap<vscode.FileCoverage, vscode.StatementCoverage[]>();

/** The points of a file: a rule, an outcome or a boundary each. */
export function detailsOf(file: vscode.FileCoverage): vscode.StatementCoverage[] {
  return details.get(file) ?? [];
}

/** Adds what scenario files cover of their edges and policies. */
export async function addCoverage(
  run: vscode.TestRun,
  uris: readonly vscode.Uri[],
  token: vscode.CancellationToken,
): Promise<void> {
  const [first] = uris;
  if (first === undefined || token.isCancellationRequested) return;
  const line = ['cover', ...uris.map(({ fsPath }) => fsPath), '--json', '--no-offer'];
  const report = jsonOf<CoverReport>(await runFor(first, line, token));
  if ('problem' in report) return run.appendOutput(`${report.problem.replaceAll('\n', '\r\n')}\r\n`);
  const byFile = new Map<string, CoverPoint[]>();
  for (const point of report.value.edges.flatMap(({ points }) => points)) {
    // What cannot happen needs no case.
    if (point.file === null || point.reason === 'cannot_happen') continue;
    const path = resolve(folderOf(first) ?? '.', point.file);
    byFile.set(path, [...(byFile.get(path) ?? []), point]);
  }
  for (const [path, points] of byFile) {
    const statements = points.map(
      ({ hits, line: at, column }) =>
        new vscode.StatementCoverage(hits, new vscode.Position(at - 1, column - 1)),
    );
    const coverage = vscode.FileCoverage.fromDetails(vscode.Uri.file(path), statements);
    details.set(coverage, statements);
    run.addCoverage(coverage);
  }
}
