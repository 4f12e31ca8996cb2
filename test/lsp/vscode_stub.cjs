/* oxlint-disable typescript/no-extraneous-class -- the real module has classes, and they are derived from */
// What an extension sees of VS Code, as far as this one uses it. Values have the names of the real module; what a client of
// language servers only derives from or registers with is made when it is asked for.
const { join } = require('node:path');
const classes = require('./vscode_values.cjs');

const { CancellationTokenSource, Disposable, EventEmitter, Items, Uri } = classes;

/** A host for a folder. `seen` has what the extension has done. */
function makeHost(folder, settings) {
  const seen = {
    commands: new Map(),
    diagnostics: new Map(),
    messages: [],
    opened: [],
    output: '',
    status: null,
    controllers: [],
    runs: [],
  };
  const events = new Map();
  const on = (name) => {
    if (!events.has(name)) events.set(name, new EventEmitter());
    return events.get(name);
  };
  const workspaceFolder = { uri: Uri.file(folder), name: 'shop', index: 0 };
  const workspace = {
    workspaceFolders: [workspaceFolder],
    textDocuments: [],
    notebookDocuments: [],
    name: 'shop',
    isTrusted: true,
    getWorkspaceFolder: (uri) => (uri.fsPath.startsWith(folder) ? workspaceFolder : undefined),
    asRelativePath: (uri) => uri.fsPath.replace(`${folder}/`, ''),
    getConfiguration: (section) => {
      const prefix = section ? `${section}.` : '';
      const own = Object.entries(settings).flatMap(([key, value]) =>
        key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
      );
      return {
        ...Object.fromEntries(own),
        get: (key, otherwise) => settings[prefix + key] ?? otherwise,
        inspect: () => undefined,
        has: () => false,
      };
    },
    findFiles: async () => seen.files.map((name) => Uri.file(join(folder, name))),
    createFileSystemWatcher: () => ({
      onDidCreate: on('created').event,
      onDidChange: on('changed').event,
      onDidDelete: on('deleted').event,
      dispose() {},
    }),
    fs: {},
  };
  const window = {
    activeTextEditor: undefined,
    visibleTextEditors: [],
    tabGroups: { all: [], onDidChangeTabs: on('tabs').event, onDidChangeTabGroups: on('tabGroups').event },
    createStatusBarItem: () =>
      (seen.status = {
        visible: false,
        show() {
          this.visible = true;
        },
        hide() {
          this.visible = false;
        },
        dispose() {},
      }),
    createOutputChannel: () => ({
      append: (text) => (seen.output += text),
      appendLine: (text) => (seen.output += `${text}\n`),
      clear: () => (seen.output = ''),
      show() {},
      hide() {},
      dispose() {},
      replace() {},
      onDidChangeLogLevel: on('log').event,
      trace() {},
      debug() {},
      info() {},
      warn() {},
      error() {},
    }),
    showInputBox: async () => seen.input,
    showInformationMessage: async (text) => void seen.messages.push(text),
    showWarningMessage: async (text) => void seen.messages.push(text),
    showErrorMessage: async (text) => void seen.messages.push(text),
    withProgress: (_options, does) => does({ report() {} }, new CancellationTokenSource().token),
  };
  const languages = {
    createDiagnosticCollection: (name) => {
      const own = new Map();
      seen.diagnostics.set(name, own);
      return {
        name,
        set: (uri, list) => {
          own.set(uri.toString(), list);
          on('diagnostics').fire({ uris: [uri] });
        },
        get: (uri) => own.get(uri.toString()),
        delete: (uri) => own.delete(uri.toString()),
        clear: () => own.clear(),
        forEach: (does) => own.forEach((list, href) => does(Uri.parse(href), list)),
        has: (uri) => own.has(uri.toString()),
        dispose() {},
      };
    },
    getDiagnostics: (uri) => [...seen.diagnostics.values()].flatMap((own) => own.get(uri.toString()) ?? []),
    onDidChangeDiagnostics: on('diagnostics').event,
    match: () => 1,
  };
  const tests = {
    createTestController: (id, label) => {
      const controller = {
        id,
        label,
        items: new Items(undefined),
        profiles: [],
        createTestItem: (itemId, name, uri) => {
          const item = { id: itemId, label: name, uri };
          item.children = new Items(item);
          return item;
        },
        createRunProfile: (name, kind, handler, isDefault, tag, supportsContinuousRun) => {
          const profile = { name, kind, handler, isDefault, supportsContinuousRun };
          controller.profiles.push(profile);
          return profile;
        },
        createTestRun: () => {
          const run = { results: [], coverage: [], output: '', ended: false };
          for (const state of ['enqueued', 'started', 'passed', 'failed', 'skipped', 'errored'])
            run[state] = (item, given) => run.results.push({ state, id: item.id, label: item.label, given });
          run.appendOutput = (text) => void (run.output += text);
          run.addCoverage = (each) => void run.coverage.push(each);
          run.end = () => {
            run.ended = true;
            on('run').fire(run);
          };
          seen.runs.push(run);
          return run;
        },
        dispose() {},
      };
      seen.controllers.push(controller);
      return controller;
    },
  };
  const commands = {
    registerCommand: (name, does) => {
      seen.commands.set(name, does);
      return new Disposable(() => seen.commands.delete(name));
    },
    executeCommand: async (name, ...given) => seen.commands.get(name)?.(...given),
    getCommands: async () => [...seen.commands.keys()],
  };
  const env = {
    openExternal: async (uri) => (seen.opened.push(uri.toString()), true),
    appName: 'test',
    language: 'en',
    uriScheme: 'vscode',
  };
  const values = {
    ...classes,
    // Otherwise helpers of bundlers copy what is there now.
    __esModule: true,
    version: '1.91.0',
    TestRunProfileKind: { Run: 1, Debug: 2, Coverage: 3 },
    StatusBarAlignment: { Left: 1, Right: 2 },
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    workspace: withEvents(workspace, on),
    window: withEvents(window, on),
    languages: withEvents(languages, on),
    tests,
    commands,
    env,
    extensions: { all: [], getExtension: () => undefined, onDidChange: on('extensions').event },
  };
  return {
    seen,
    fire: (name, value) => on(name).fire(value),
    values,
    vscode: Object.setPrototypeOf(values, new Proxy({}, { get: missing })),
  };
}

/** Events and registrations that the extension only subscribes to. */
function withEvents(space, on) {
  return new Proxy(space, {
    get: (all, name) => {
      if (name in all || typeof name !== 'string') return all[name];
      if (name.startsWith('on')) return on(name).event;
      if (/^(?:register|create|set)/.test(name)) return () => new Disposable();
      return undefined;
    },
  });
}

/** A class to derive from, whose members are the numbers of an enumeration. */
function missing(all, name) {
  if (typeof name !== 'string' || !/^[A-Z]/.test(name)) return undefined;
  const base = class {
    constructor(...given) {
      this.given = given;
    }
  };
  let next = 1;
  all[name] = new Proxy(base, {
    get: (own, key) => (key in own || typeof key !== 'string' ? own[key] : (own[key] = next++)),
  });
  return all[name];
}

module.exports = { makeHost };
