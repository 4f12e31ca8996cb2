import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import { edgeInFront } from './edge_in_front';
import { folderOf, programOf } from './project';

const ADDRESS = /inspector\s+(http:\/\/\S+)/;

/** `edgeproof dev` for the file in front, with its page of live traffic. */
export class Inspector implements vscode.Disposable {
  readonly #output: vscode.OutputChannel;
  #child: ChildProcess | null = null;

  constructor(output: vscode.OutputChannel) {
    this.#output = output;
  }

  async open(): Promise<unknown> {
    const document = edgeInFront();
    if (document === null)
      return vscode.window.showWarningMessage('Open an edge file or a policy first, such as edge.yaml.');
    const program = programOf(document.uri);
    if (program === null) return vscode.window.showErrorMessage('edgeproof is not installed.');
    await this.stop();
    const args = [...program.args, 'dev', document.fileName, '--port', '0', '--inspector', '0'];
    const cwd = folderOf(document.uri) ?? undefined;
    const child = spawn(program.command, args, { cwd, env: { ...process.env, NO_COLOR: '1' } });
    this.#child = child;
    const address = await new Promise<string | null>((found) => {
      child.once('error', () => found(null));
      child.once('close', () => found(null));
      for (const stream of [child.stdout, child.stderr])
        createInterface({ input: stream }).on('line', (line) => {
          // The address has a secret, which is not for a log.
          const shown = ADDRESS.exec(line);
          if (shown === null) this.#output.appendLine(line);
          else found(shown[1]!);
        });
    });
    if (address !== null) return vscode.env.openExternal(vscode.Uri.parse(address));
    this.#output.show(true);
    return vscode.window.showErrorMessage('The edge did not start; its output says why.');
  }

  stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((done) => {
      child.once('close', () => done());
      child.kill();
    });
  }

  dispose(): void {
    void this.stop();
  }
}
