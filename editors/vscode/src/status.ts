import * as vscode from 'vscode';
import type { Client } from './client';
import { kindOf } from './kinds';
import { programOf } from './project';

/** The item of the status bar: the kind of the file, and how many findings it has. */
export function showStatus(client: Client): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('edgeproof.status', vscode.StatusBarAlignment.Right, 90);
  item.name = 'edgeproof';
  const update = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    const kind = document === undefined ? null : kindOf(document.fileName, document.getText());
    void vscode.commands.executeCommand('setContext', 'edgeproof.kind', kind);
    if (document === undefined || kind === null) return item.hide();
    if (programOf(document.uri) === null) {
      item.text = '$(warning) edgeproof: not installed';
      item.tooltip = 'Run `npm install --save-dev edgeproof`, or set edgeproof.command';
      item.command = {
        command: 'workbench.action.openSettings',
        arguments: ['edgeproof.command'],
        title: '',
      };
    } else {
      const found = vscode.languages
        .getDiagnostics(document.uri)
        .filter(({ source }) => source === 'edgeproof');
      const mark = client.isRunning ? (found.length === 0 ? '$(check)' : '$(alert)') : '$(circle-slash)';
      item.text = `${mark} ${kind}${found.length === 0 ? '' : `: ${found.length}`}`;
      item.tooltip = client.isRunning
        ? `edgeproof: ${kind} file`
        : 'edgeproof: the language server does not run';
      item.command = client.isRunning ? 'workbench.actions.view.problems' : 'edgeproof.restart';
    }
    item.show();
  };
  update();
  return vscode.Disposable.from(
    item,
    client.onDidChange(update),
    vscode.window.onDidChangeActiveTextEditor(update),
    vscode.workspace.onDidSaveTextDocument(update),
    vscode.workspace.onDidChangeConfiguration(update),
    vscode.languages.onDidChangeDiagnostics(update),
  );
}
