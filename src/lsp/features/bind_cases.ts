import {
  type CodeAction,
  type CodeLens,
  type Connection,
  type ExecuteCommandParams,
  type Location,
  MessageType,
  ShowMessageNotification,
} from 'vscode-languageserver/node';
import type { WirePoint } from '../messages.ts';
import { type TextFacts, uriOfName } from '../open_file.ts';
import type { Serving } from '../serving.ts';
import { answering, factsOf } from './answering.ts';
import { COMMANDS, type LensData, casesIn, codeLensesOf, coverageTitle } from './code_lens.ts';
import { additionOf } from './missing_case.ts';

/** Answers what needs cases to be run. */
export function bindCases(serving: Serving): void {
  const { connection, coverage, diagnosing, settings } = serving;
  const answer = answering(serving);
  connection.onCodeLens((params, token) =>
    answer(params, token, [], (facts) => {
      if (!settings().codeLens) return [];
      const hasCases = coverage.scenariosOf(facts).length > 0;
      return codeLensesOf(facts, diagnosing.findingsOf(facts.document.uri), { hasCases });
    }),
  );
  connection.onCodeLensResolve((lens) => resolvedLens(serving, lens));
  connection.onExecuteCommand((params) => executed(serving, params));
}

/** The coverage of a file; empty if its cases cannot run; other findings report why. */
export async function pointsOf({ coverage }: Serving, facts: TextFacts): Promise<readonly WirePoint[]> {
  try {
    return coverage.scenariosOf(facts).length === 0 ? [] : await coverage.pointsOf(facts);
  } catch {
    return [];
  }
}

async function resolvedLens(serving: Serving, lens: CodeLens): Promise<CodeLens> {
  const { uri, line } = (lens.data ?? {}) as Partial<LensData>;
  const facts = factsOf(serving, uri);
  if (facts === null || line === undefined) return lens;
  const title = coverageTitle(await pointsOf(serving, facts), line);
  return { ...lens, command: { title, command: '' } };
}

/** The route that a case takes: where its name is declared is known already. */
export async function routeOfCaseAt(
  { runs, settings }: Serving,
  facts: TextFacts,
  offset: number,
): Promise<Location | null> {
  const own = facts.names.find(
    ({ kind, span }) => kind === 'case' && span.start <= offset && offset <= span.end,
  );
  if (own === undefined) return null;
  const index = casesIn(facts).findLast(({ start }) => start <= offset)?.index;
  if (index === undefined) return null;
  try {
    const place = await runs.ask('route', facts.name, settings(), { index });
    if (place === null) return null;
    const { line, character } = place;
    return {
      uri: uriOfName(place.file),
      range: { start: { line, character }, end: { line, character } },
    };
  } catch {
    return null;
  }
}

/** Runs a command of a lens; what it prints is shown, and returned. */
async function executed(
  serving: Serving,
  { command, arguments: given = [] }: ExecuteCommandParams,
): Promise<unknown> {
  const [uri, index] = given as readonly unknown[];
  const facts = factsOf(serving, typeof uri === 'string' ? uri : undefined);
  if (facts === null) return null;
  const { connection, runs, settings } = serving;
  if (command === COMMANDS.repair) return repaired(serving, facts, given);
  if (typeof index !== 'number') return null;
  if (command === COMMANDS.run) {
    const result = await runs.ask('run', facts.name, settings(), { index });
    await shown(connection, result.text, result.passed ? MessageType.Info : MessageType.Error);
    return result;
  }
  if (command !== COMMANDS.explain) return null;
  const text = await runs.ask('explain', facts.name, settings(), { index });
  await shown(connection, text, MessageType.Info);
  return { text };
}

/** A message that asks for nothing: an editor may not answer. */
function shown(connection: Connection, message: string, type: MessageType): Promise<void> {
  return connection.sendNotification(ShowMessageNotification.type, { type, message });
}

async function repaired(
  { connection, diagnosing }: Serving,
  { document: { uri, version } }: TextFacts,
  [, range, code]: readonly unknown[],
): Promise<boolean> {
  const wanted = JSON.stringify(range);
  const found = diagnosing
    .findingsOf(uri)
    .find((each) => each.code === code && JSON.stringify(each.range) === wanted);
  if (found?.fix === null || found === undefined) return false;
  const { range: at, text } = found.fix;
  const edits = [{ range: at, newText: text }];
  const result = await connection.workspace.applyEdit({
    documentChanges: [{ textDocument: { uri, version }, edits }],
  });
  return result.applied;
}

/** The edit of "Add the missing case": in the scenario file whose cases are counted. */
export async function withMissingCase(serving: Serving, action: CodeAction): Promise<CodeAction> {
  const { uri, line } = action.data as LensData;
  const facts = factsOf(serving, uri);
  if (facts === null) return action;
  const { coverage, runs, settings, project } = serving;
  const scenarios = coverage.scenariosOf(facts);
  const found = await runs.ask('missing', facts.name, settings(), { line, scenarios });
  const scenario = found === null ? null : project.factsAt(found.scenario);
  const edit = scenario === null ? null : additionOf(scenario, found!.text);
  return edit === null ? action : { ...action, edit: { changes: { [scenario!.document.uri]: [edit] } } };
}
