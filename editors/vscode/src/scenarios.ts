import { dirname, resolve } from 'node:path';
import * as vscode from 'vscode';
import { addCoverage, detailsOf } from './coverage';
import { kindOf } from './kinds';
import { folderOf, jsonOf, runFor } from './project';
import type { TestReport, TestedCase, TestedFile } from './reports';

const FILES = '**/*scenario.{yaml,yml,json}';
const ELSEWHERE = '**/{node_modules,dist}/**';

/** The panel of tests: scenario files with their cases. */
export class Scenarios implements vscode.Disposable {
  readonly #controller = vscode.tests.createTestController('edgeproof', 'edgeproof');
  readonly #parts: vscode.Disposable[] = [this.#controller];

  constructor() {
    this.#controller.resolveHandler = (item) => (item === undefined ? this.#discover() : this.#list(item));
    this.#controller.refreshHandler = () => this.#discover();
    const { Run, Coverage } = vscode.TestRunProfileKind;
    this.#controller.createRunProfile('Run', Run, (...given) => this.#start(...given), true, undefined, true);
    const covering = this.#controller.createRunProfile('Cover', Coverage, (...given) =>
      this.#run(...given, true),
    );
    covering.loadDetailedCoverage = (_run, file) => Promise.resolve(detailsOf(file));
    const watcher = vscode.workspace.createFileSystemWatcher(FILES);
    this.#parts.push(
      watcher,
      watcher.onDidCreate((uri) => void this.#add(uri)),
      watcher.onDidDelete((uri) => this.#controller.items.delete(uri.toString())),
      watcher.onDidChange((uri) => void this.#list(this.#add(uri))),
    );
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }

  async #discover(): Promise<void> {
    const found = await vscode.workspace.findFiles(FILES, ELSEWHERE);
    this.#controller.items.replace([]);
    for (const uri of found) if (kindOf(uri.fsPath) === 'scenario') this.#add(uri);
  }

  #add(uri: vscode.Uri): vscode.TestItem {
    const known = this.#controller.items.get(uri.toString());
    if (known !== undefined) return known;
    const item = this.#controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
    item.canResolveChildren = true;
    this.#controller.items.add(item);
    return item;
  }

  /** Lists the cases of a file. Running them takes some milliseconds and touches nothing, so that is how they are known. */
  async #list(item: vscode.TestItem): Promise<void> {
    if (item.uri === undefined || item.parent !== undefined) return;
    item.busy = true;
    const report = jsonOf<TestReport>(await runFor(item.uri, ['test', item.uri.fsPath, '--json']));
    item.busy = false;
    if ('problem' in report) item.error = report.problem;
    else this.#update(item, report.value.files[0]);
  }

  #update(item: vscode.TestItem, file: TestedFile | undefined): void {
    const { cases = [], findings = [] } = file ?? {};
    const wrong = findings.filter(({ severity }) => severity === 'error');
    item.error = wrong.length === 0 ? undefined : wrong.map(({ message }) => message).join('\n');
    if (cases.length === 0 && wrong.length > 0) return;
    item.children.replace(
      cases.map(({ name, line }) => {
        const child = this.#controller.createTestItem(`${item.id}\n${name}`, name, item.uri);
        child.range = new vscode.Range(line - 1, 0, line - 1, 0);
        return child;
      }),
    );
  }

  /** Runs now, and for a continuous run after each save until it ends. */
  async #start(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    await this.#run(request, token, false);
    if (request.continuous !== true) return;
    let last = Promise.resolve();
    const saved = vscode.workspace.onDidSaveTextDocument(({ fileName }) => {
      if (!/[.](?:ya?ml|json|csv|[cm]?[jt]s)$/.test(fileName)) return;
      last = last.then(() => (token.isCancellationRequested ? undefined : this.#run(request, token, false)));
    });
    token.onCancellationRequested(() => saved.dispose());
  }

  async #run(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
    covers: boolean,
  ): Promise<void> {
    const run = this.#controller.createTestRun(request);
    const wanted = this.#wanted(request);
    for (const [file] of wanted) run.enqueued(file);
    for (const [file, names] of wanted) {
      if (token.isCancellationRequested) break;
      await this.#runFile(run, file, names, token);
    }
    if (covers) {
      const uris = [...wanted.keys()].flatMap(({ uri }) => uri ?? []);
      await addCoverage(run, uris, token);
    }
    run.end();
  }

  /** The files to run, with the names of their cases; null for all of them. */
  #wanted({ include, exclude = [] }: vscode.TestRunRequest): Map<vscode.TestItem, Set<string> | null> {
    const wanted = new Map<vscode.TestItem, Set<string> | null>();
    const given = include ?? Array.from(this.#controller.items, ([, item]) => item);
    for (const item of given) {
      const file = item.parent ?? item;
      if (exclude.includes(item) || exclude.includes(file)) continue;
      if (item === file) wanted.set(file, null);
      else if (wanted.get(file) !== null)
        wanted.set(file, new Set([...(wanted.get(file) ?? []), item.label]));
    }
    return wanted;
  }

  async #runFile(
    run: vscode.TestRun,
    item: vscode.TestItem,
    names: ReadonlySet<string> | null,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { uri } = item;
    if (uri === undefined) return;
    run.started(item);
    // Names are matched exactly with an equals sign in front of them.
    const filters = [...(names ?? [])].flatMap((name) => ['--filter', `=${name}`]);
    const report = jsonOf<TestReport>(await runFor(uri, ['test', uri.fsPath, '--json', ...filters], token));
    if ('problem' in report) return run.errored(item, new vscode.TestMessage(report.problem));
    const [file] = report.value.files;
    if (names === null) this.#update(item, file);
    const wrong = (file?.findings ?? []).filter(({ severity }) => severity === 'error');
    if (wrong.length > 0)
      return run.errored(
        item,
        wrong.map((each) => findingMessage(uri, each)),
      );
    const cases = file?.cases ?? [];
    for (const each of cases) {
      const child = item.children.get(`${item.id}\n${each.name}`);
      if (child !== undefined) reportCase(run, child, each);
    }
    if (names === null && cases.every(({ status }) => status !== 'failed')) run.passed(item);
  }
}

function reportCase(run: vscode.TestRun, item: vscode.TestItem, result: TestedCase): void {
  const { status, took_ms: took } = result;
  if (status === 'passed') run.passed(item, took);
  else if (status === 'skipped') run.skipped(item);
  else run.failed(item, failuresOf(item, result), took);
}

function failuresOf(item: vscode.TestItem, result: TestedCase): vscode.TestMessage[] {
  const { mismatches = [], decided_by: decided, message = 'the case failed' } = result;
  if (mismatches.length === 0) return [new vscode.TestMessage(message)];
  const { file, line } = decided?.place ?? {};
  const place = file === undefined ? '' : `  ${file}:${line}`;
  const reason = decided
    ? `\ndecided by ${decided.module}: ${decided.message} (${decided.code})${place}`
    : '';
  return mismatches.map(({ what, expected, received, line: at }) => {
    const failure = vscode.TestMessage.diff(
      `${what}: expected ${expected}, received ${received}${reason}`,
      expected,
      received,
    );
    if (item.uri !== undefined)
      failure.location = new vscode.Location(item.uri, new vscode.Position(at - 1, 0));
    return failure;
  });
}

function findingMessage(
  uri: vscode.Uri,
  { file, range, message, hint, code }: TestedFile['findings'][number],
) {
  const found = new vscode.TestMessage(`${message}${hint === null ? '' : `: ${hint}`} (${code})`);
  const path = file === null ? uri.fsPath : resolve(folderOf(uri) ?? dirname(uri.fsPath), file);
  if (range !== null)
    found.location = new vscode.Location(
      vscode.Uri.file(path),
      new vscode.Position(range.start.line - 1, range.start.column - 1),
    );
  return found;
}
