import { CodeActionKind, type ServerCapabilities, TextDocumentSyncKind } from 'vscode-languageserver/node';
import { FIX_ALL } from './code_actions.ts';
import { COMMANDS } from './code_lens.ts';
import { LEGEND } from './semantic_tokens.ts';

/** What the server can do. */
export const CAPABILITIES: ServerCapabilities = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  hoverProvider: true,
  completionProvider: { triggerCharacters: ['.', ':', ' ', "'", '"', '/', '{', '-'] },
  definitionProvider: true,
  referencesProvider: true,
  documentHighlightProvider: true,
  documentLinkProvider: {},
  selectionRangeProvider: true,
  workspaceSymbolProvider: true,
  signatureHelpProvider: { triggerCharacters: ['(', ','] },
  renameProvider: { prepareProvider: true },
  documentSymbolProvider: true,
  foldingRangeProvider: true,
  documentFormattingProvider: true,
  documentRangeFormattingProvider: true,
  codeLensProvider: { resolveProvider: true },
  executeCommandProvider: { commands: Object.values(COMMANDS) },
  semanticTokensProvider: { legend: LEGEND, full: { delta: true }, range: true },
  codeActionProvider: {
    codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.RefactorRewrite, FIX_ALL],
    resolveProvider: true,
  },
};
