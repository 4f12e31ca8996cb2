import type * as vscode from 'vscode';
import { Client } from './client';
import { registerCommands } from './commands';
import { Scenarios } from './scenarios';
import { showStatus } from './status';

let client: Client | null = null;

/** Called by the editor when a file or a folder of ours is opened. */
export async function activate({ subscriptions }: vscode.ExtensionContext): Promise<void> {
  client = new Client();
  subscriptions.push(new Scenarios(), registerCommands(client), showStatus(client));
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = null;
}
