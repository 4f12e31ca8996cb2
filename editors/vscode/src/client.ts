import * as vscode from 'vscode';
import { type Executable, LanguageClient, State, TransportKind } from 'vscode-languageclient/node';
import { folderOf, programOf } from './project';

/** The language server of the first folder, which can be started again. */
export class Client {
  #client: LanguageClient | null = null;
  readonly #changed = new vscode.EventEmitter<void>();
  /** Whether it runs, or what keeps it from running, has changed. */
  readonly onDidChange = this.#changed.event;

  get isRunning(): boolean {
    return this.#client?.state === State.Running;
  }

  async start(): Promise<void> {
    const program = programOf(undefined);
    if (program === null) return this.#changed.fire();
    const server: Executable = {
      command: program.command,
      args: [...program.args, 'lsp'],
      transport: TransportKind.stdio,
      options: { cwd: folderOf(undefined) ?? '.' },
    };
    const languages = ['yaml', 'json', 'jsonc'];
    const client = new LanguageClient('edgeproof', 'edgeproof', server, {
      documentSelector: languages.map((language) => ({ scheme: 'file', language })),
      initializationOptions: vscode.workspace.getConfiguration('edgeproof'),
      synchronize: {
        configurationSection: 'edgeproof',
        fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{yaml,yml,json}'),
      },
    });
    this.#client = client;
    client.onDidChangeState(() => this.#changed.fire());
    try {
      await client.start();
    } catch {
      // The client has shown what is wrong; tests and commands work without the server.
      this.#changed.fire();
    }
  }

  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.dispose();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }
}
