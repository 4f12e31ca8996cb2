import {
  type CancellationToken,
  type CodeAction,
  CodeActionKind,
  CodeActionTriggerKind,
  type SemanticTokens,
  type SemanticTokensDelta,
  type TextEdit,
} from 'vscode-languageserver/node';
import type { LineRange } from '../messages.ts';
import type { TextFacts } from '../open_file.ts';
import type { Serving } from '../serving.ts';
import { type About, answering } from './answering.ts';
import { bindCases, pointsOf, routeOfCaseAt, withMissingCase } from './bind_cases.ts';
import { codeActionsAt } from './code_actions.ts';
import { completionAt } from './completion.ts';
import { hoverAt } from './hover.ts';
import { definitionsAt, highlightsAt, linksIn, referencesAt } from './navigation.ts';
import { missingCaseAt } from './missing_case.ts';
import { KnownTokens, semanticTokensIn } from './semantic_tokens.ts';
import { foldingIn, namesMatching, symbolsIn } from './outline.ts';
import { renameAt, renamedAt } from './rename.ts';
import { selectionAt } from './selection.ts';
import { signatureAt } from './signature_help.ts';
import { rawText } from '../../editing/edited_text.ts';
import type { Settings } from '../settings.ts';

const NO_TOKENS: SemanticTokens = { data: [] };

/** Answers the requests of an editor. */
export function bindFeatures(serving: Serving): void {
  bindNavigation(serving);
  bindCases(serving);
  bindFormatting(serving);
  const { connection, project, diagnosing, settings, traffic } = serving;
  const answer = answering(serving);
  connection.onHover((params, token) =>
    answer(params, token, null, (facts) =>
      hoverAt(facts, facts.document.offsetAt(params.position), {
        service: serviceOf(facts, settings()),
        record: traffic()?.last ?? null,
        declared: (occurrence) =>
          project.placesOf(facts, occurrence).find((each) => each.occurrence.isDeclaration) ?? null,
      }),
    ),
  );
  connection.onCompletion((params, token) =>
    answer(params, token, null, (facts) =>
      completionAt(facts, facts.document.offsetAt(params.position), {
        namesOf: project.namesOf(facts),
        seen: (kind) => [...project.keysSeen(facts, kind), ...(traffic()?.names.get(kind) ?? [])],
        service: serviceOf(facts, settings()),
      }),
    ),
  );
  connection.onSignatureHelp((params, token) =>
    answer(params, token, null, (facts) =>
      signatureAt(facts, facts.document.offsetAt(params.position), serviceOf(facts, settings())),
    ),
  );
  connection.onCodeAction(async (params, token) => {
    const facts = answer(params, token, null, (own) => own);
    if (facts === null) return [];
    const { range, context } = params;
    const findings = diagnosing.findingsOf(facts.document.uri);
    const own = codeActionsAt(facts, findings, { range, only: context.only });
    // Editors also ask after every move of the cursor: cases are run only if a user asks.
    if (context.triggerKind === CodeActionTriggerKind.Automatic || !wantsRewrite(context.only)) return own;
    return [...own, ...missingCaseAt(facts, await pointsOf(serving, facts), range.start.line)];
  });
  connection.onCodeActionResolve(async (action) => resolvedAction(action, serving));
}

function bindNavigation(serving: Serving): void {
  const { connection, project } = serving;
  const answer = answering(serving);
  connection.onDefinition(async (params, token) => {
    const facts = answer(params, token, null, (own) => own);
    if (facts === null) return [];
    const offset = facts.document.offsetAt(params.position);
    const route = await routeOfCaseAt(serving, facts, offset);
    return route === null ? [...definitionsAt(project, facts, offset)] : [route];
  });
  connection.onReferences((params, token) =>
    answer(params, token, [], (facts) => [
      ...referencesAt(project, facts, {
        offset: facts.document.offsetAt(params.position),
        withDeclaration: params.context.includeDeclaration,
      }),
    ]),
  );
  connection.onPrepareRename((params, token) =>
    answer(params, token, null, (facts) =>
      renamedAt(project, facts, facts.document.offsetAt(params.position)),
    ),
  );
  connection.onRenameRequest((params, token) =>
    answer(params, token, null, (facts) =>
      renameAt(project, facts, {
        offset: facts.document.offsetAt(params.position),
        newName: params.newName,
      }),
    ),
  );
  connection.onDocumentHighlight((params, token) =>
    answer(params, token, [], (facts) => highlightsAt(facts, facts.document.offsetAt(params.position))),
  );
  connection.onDocumentLinks((params, token) => answer(params, token, [], linksIn));
  connection.onSelectionRanges((params, token) =>
    answer(params, token, null, (facts) => params.positions.map((each) => selectionAt(facts, each))),
  );
  connection.onWorkspaceSymbol(({ query }) => namesMatching(project.declarations(), query));
  connection.onDocumentSymbol((params, token) => answer(params, token, [], symbolsIn));
  connection.onFoldingRanges((params, token) => answer(params, token, [], foldingIn));
  const tokens = new KnownTokens();
  serving.documents.onDidClose(({ document }) => tokens.closed(document.uri));
  connection.languages.semanticTokens.on((params, token) =>
    answer(params, token, NO_TOKENS, (facts) => tokens.all(facts)),
  );
  connection.languages.semanticTokens.onDelta((params, token) =>
    answer<SemanticTokens | SemanticTokensDelta>(params, token, NO_TOKENS, (facts) =>
      tokens.since(facts, params.previousResultId),
    ),
  );
  connection.languages.semanticTokens.onRange((params, token) =>
    answer(params, token, NO_TOKENS, (facts) => semanticTokensIn(facts, facts.spanOf(params.range))),
  );
}

function bindFormatting(serving: Serving): void {
  const { connection, formatter, settings } = serving;
  const answer = answering(serving);
  const formatted = async (
    params: About,
    token: CancellationToken,
    lines: LineRange | null,
  ): Promise<TextEdit[]> => {
    const facts = answer(params, token, null, (own) => own);
    if (facts === null || !isFormattable(facts)) return [];
    const { version } = facts.document;
    const edits = await formatter.ask('format', facts.name, settings(), { lines });
    // Edits of a text that has changed since would destroy it.
    if (edits === null || facts.document.version !== version) return [];
    return edits.map(({ range, text }) => ({ range, newText: text }));
  };
  connection.onDocumentFormatting((params, token) => formatted(params, token, null));
  connection.onDocumentRangeFormatting((params, token) => {
    const { start, end } = params.range;
    // A selection of whole lines ends before the first character of the next one.
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    return formatted(params, token, { first: start.line, last });
  });
}

/** `edgeproof fmt` formats policies, and those in edge files. */
function isFormattable({ edited: { root } }: TextFacts): boolean {
  return root === 'policy' || root === 'edge';
}

function wantsRewrite(only: readonly string[] | undefined): boolean {
  return only === undefined || only.some((kind) => CodeActionKind.RefactorRewrite.startsWith(kind));
}

async function resolvedAction(action: CodeAction, serving: Serving): Promise<CodeAction> {
  const { documents, project, checks, settings } = serving;
  const { uri, line } = (action.data ?? {}) as { readonly uri?: string; readonly line?: number };
  if (line !== undefined) return withMissingCase(serving, action);
  const document = uri === undefined ? undefined : documents.get(uri);
  if (uri === undefined || document === undefined) return action;
  const facts = project.factsOf(document);
  const text = document.getText();
  const newText = await checks.ask('fix', facts.name, settings(), {});
  const range = facts.rangeOf({ start: 0, end: text.length });
  // An edit of a text that has changed since would destroy it.
  if (document.getText() !== text || newText === text) return action;
  return { ...action, edit: { changes: { [uri]: [{ range, newText }] } } };
}

/** The name of the service in `actions.<service>`: of the settings, otherwise of the edge file. */
function serviceOf({ edited: { tree, text } }: TextFacts, { serviceName }: Settings): string | undefined {
  if (serviceName !== null || tree?.kind !== 'map') return serviceName ?? undefined;
  const value = tree.entries.find(({ key }) => rawText(text, key) === 'service_name')?.value;
  return value?.kind === 'scalar' ? rawText(text, value) : undefined;
}
