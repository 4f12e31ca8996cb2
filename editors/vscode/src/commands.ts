import { resolve } from 'node:path';
import * as vscode from 'vscode';
import type { Client } from './client';
import { edgeInFront } from './edge_in_front';
import { Inspector } from './inspector';
import { folderOf, jsonOf, runFor } from './project';
import type { Finding } from './reports';
import { requestLine } from './request_line';

/** The commands of the palette. */
export function registerCommands(client: Client): vscode.Disposable {
  const output = vscode.window.createOutputChannel('edgeproof');
  const found = vscode.languages.createDiagnosticCollection('edgeproof folder');
  const inspector = new Inspector(output);
  const commands: Readonly<Record<string, (...given: never[]) => Promise<unknown>>> = {
    'edgeproof.explain': (request?: string) => ask(output, 'explain', request),
    'edgeproof.decide': (request?: string) => ask(output, 'decide', request),
    'edgeproof.checkFolder': (folder?: vscode.Uri) => checkFolder(found, folder),
    'edgeproof.openInspector': () => inspector.open(),
    'edgeproof.stopInspector': () => inspector.stop(),
    'edgeproof.restart': () => client.restart(),
  };
  return vscode.Disposable.from(
    output,
    found,
    inspector,
    ...Object.entries(commands).map(([name, does]) => vscode.commands.registerCommand(name, does)),
  );
}

const LAST_REQUEST = { text: 'GET https://' };

/** Asks for a request, and shows what the edge does with it: each step, or the outcome only. */
async function ask(
  output: vscode.OutputChannel,
  does: 'explain' | 'decide',
  given?: string,
): Promise<unknown> {
  const document = edgeInFront();
  if (document === null)
    return vscode.window.showWarningMessage('Open an edge file or a policy first, such as edge.yaml.');
  const written =
    given ??
    (await vscode.window.showInputBox({
      prompt: 'Request: METHOD URL [from ADDRESS] [name: value, name: value]',
      value: LAST_REQUEST.text,
      validateInput: (text) =>
        requestLine(text) === null ? 'such as GET https://shop.test/ from 203.0.113.9' : null,
    }));
  const line = written === undefined ? null : requestLine(written);
  if (line === null || written === undefined) return undefined;
  LAST_REQUEST.text = written;
  const options = ['--edge', document.fileName, ...(does === 'decide' ? ['--json'] : [])];
  const ran = await runFor(document.uri, ['explain', ...line, ...options]);
  if (does === 'explain') {
    output.clear();
    output.append(ran.out === '' ? ran.problems : ran.out);
    output.show(true);
    return undefined;
  }
  const decided = jsonOf<Decided>(ran);
  if ('problem' in decided) return vscode.window.showErrorMessage(decided.problem);
  const { status, backend, decidedBy } = decided.value;
  const reason = decidedBy === null ? '' : `: ${decidedBy.message} (${decidedBy.code})`;
  return vscode.window.showInformationMessage(`${status}${backend === null ? '' : ` → ${backend}`}${reason}`);
}

interface Decided {
  readonly status: number;
  readonly backend: string | null;
  readonly decidedBy: { readonly code: string; readonly message: string } | null;
}

/** Checks all files of a folder, also those that are not open, and shows the findings as problems. */
async function checkFolder(found: vscode.DiagnosticCollection, given?: vscode.Uri): Promise<unknown> {
  const folder = given?.fsPath ?? folderOf(vscode.window.activeTextEditor?.document.uri);
  if (folder === null) return vscode.window.showWarningMessage('Open a folder first.');
  const uri = vscode.Uri.file(folder);
  const report = jsonOf<readonly Finding[]>(
    await runFor(uri, ['check', folder, '--reporter', 'json', '--exact']),
  );
  found.clear();
  if ('problem' in report) return vscode.window.showErrorMessage(report.problem);
  const byFile = new Map<string, vscode.Diagnostic[]>();
  for (const { file, range, severity, message, hint, code } of report.value) {
    if (file === null || range === null) continue;
    const { start, end } = range;
    const place = new vscode.Range(start.line - 1, start.column - 1, end.line - 1, end.column - 1);
    const level = severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
    const diagnostic = new vscode.Diagnostic(place, hint === null ? message : `${message}\n${hint}`, level);
    diagnostic.code = code;
    diagnostic.source = 'edgeproof folder';
    const path = resolve(folderOf(uri) ?? folder, file);
    byFile.set(path, [...(byFile.get(path) ?? []), diagnostic]);
  }
  // The language server shows those of open files.
  const open = new Set(vscode.workspace.textDocuments.map(({ fileName }) => fileName));
  for (const [path, diagnostics] of byFile)
    if (!open.has(path)) found.set(vscode.Uri.file(path), diagnostics);
  const count = report.value.length;
  if (count > 0) await vscode.commands.executeCommand('workbench.actions.view.problems');
  return vscode.window.showInformationMessage(
    count === 0 ? 'No problems found.' : `Findings: ${count}. Files with findings: ${byFile.size}.`,
  );
}
