import * as vscode from 'vscode';
import { kindOf } from './kinds';

/** The edge file or policy of the editor in front. */
export function edgeInFront(): vscode.TextDocument | null {
  const document = vscode.window.activeTextEditor?.document;
  const kind = document && kindOf(document.fileName, document.getText());
  return kind === 'edge' || kind === 'policy' ? document! : null;
}
