// Runs the packed extension in a stubbed host, and prints what it has done as JSON. Arguments: the extension, a folder, and the program
// that is its edgeproof.
const Module = require('node:module');
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { makeHost } = require('./vscode_stub.cjs');

const [extension, folder, ...program] = process.argv.slice(2);
const host = makeHost(folder, { 'edgeproof.command': program, 'edgeproof.delay': 20 });
const { seen, vscode, values, fire } = host;
seen.files = ['shop.scenario.yaml'];

const load = Module._load;
Module._load = function (name, ...rest) {
  return name === 'vscode' ? vscode : load.call(this, name, ...rest);
};

const documentOf = (name, text = readFileSync(join(folder, name), 'utf8')) => ({
  uri: values.Uri.file(join(folder, name)),
  fileName: join(folder, name),
  languageId: 'yaml',
  version: 1,
  isClosed: false,
  lineCount: text.split('\n').length,
  getText: () => text,
});

async function until(what, isSo) {
  for (let tries = 0; tries < 600; tries++) {
    const value = isSo();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never: ${what}`);
}

const statesOf = (run) => run.results.map(({ state, label }) => `${state} ${label}`);

async function main() {
  const { activate, deactivate } = require(extension);
  const report = {};
  const document = documentOf('edge.yaml');
  values.workspace.textDocuments.push(document);
  values.window.activeTextEditor = { document };
  const subscriptions = [];
  await activate({ subscriptions, extensionPath: folder });
  report.commands = [...seen.commands.keys()];

  // The language server.
  const broken = documentOf(
    'broken.edge.yaml',
    readFileSync(join(folder, 'edge.yaml'), 'utf8').replace('ip_restriction:', 'ip_restrictions:'),
  );
  values.workspace.textDocuments.push(broken);
  fire('onDidOpenTextDocument', broken);
  const found = await until('findings', () => {
    const list = seen.diagnostics.get('edgeproof')?.get(broken.uri.toString());
    return list?.length > 0 ? list : null;
  });
  const misspelt = found.find(({ code }) => code === 'edge.unknown_key');
  report.finding = { message: misspelt.message, code: misspelt.code, line: misspelt.range.start.line };
  values.window.activeTextEditor = { document: broken };
  fire('onDidChangeActiveTextEditor', values.window.activeTextEditor);
  report.status = { text: seen.status.text, visible: seen.status.visible };
  values.window.activeTextEditor = { document };
  fire('onDidChangeActiveTextEditor', values.window.activeTextEditor);

  // The panel of tests.
  const [controller] = seen.controllers;
  await controller.resolveHandler(undefined);
  report.files = [...controller.items.values()].map(({ label }) => label);
  const [scenarioFile] = controller.items.values();
  await controller.resolveHandler(scenarioFile);
  report.cases = [...scenarioFile.children.values()].map(({ label, range }) => [label, range.start.line]);
  const [running, covering] = controller.profiles;
  const { token } = new values.CancellationTokenSource();
  const runWith = async (profile, include) => {
    await profile.handler(new values.TestRunRequest(include, [], profile, false), token);
    return seen.runs.at(-1);
  };
  report.passed = statesOf(await runWith(running, undefined));
  report.one = statesOf(await runWith(running, [[...scenarioFile.children.values()][1]]));
  const covered = await runWith(covering, undefined);
  report.coverage = [];
  for (const each of covered.coverage) {
    const { covered: reached, total } = each.statementCoverage;
    const details = await covering.loadDetailedCoverage(covered, each, token);
    const file = each.uri.fsPath.replace(`${folder}/`, '');
    report.coverage.push({ file, covered: reached, total, details: details.length });
  }

  // Watch: a save runs the tests again.
  const watch = new values.CancellationTokenSource();
  await running.handler(new values.TestRunRequest(undefined, [], running, true), watch.token);
  const before = seen.runs.length;
  const scenario = join(folder, 'shop.scenario.yaml');
  const text = readFileSync(scenario, 'utf8');
  writeFileSync(scenario, text.replace('status: 502', 'status: 500'));
  fire('onDidSaveTextDocument', documentOf('shop.scenario.yaml'));
  const again = await until('a run after a save', () =>
    seen.runs.at(-1).ended && seen.runs.length > before ? seen.runs.at(-1) : null,
  );
  const failed = again.results.find(({ state }) => state === 'failed');
  report.failed = failed && {
    label: failed.label,
    message: failed.given[0].message,
    line: failed.given[0].location.range.start.line,
    expected: failed.given[0].expectedOutput,
  };
  watch.cancel();
  const runs = seen.runs.length;
  fire('onDidSaveTextDocument', documentOf('shop.scenario.yaml'));
  writeFileSync(scenario, `${text}  - nam: nothing\n`);
  report.errored = (await runWith(running, undefined)).results.find(
    ({ state }) => state === 'errored',
  )?.given[0].message;
  report.runsAfterWatch = seen.runs.length - runs;
  writeFileSync(scenario, text);

  // Commands.
  const command = (name, ...given) => seen.commands.get(name)(...given);
  await command('edgeproof.explain', 'GET https://shop.test/admin from 198.51.100.7');
  report.explained = seen.output;
  await command('edgeproof.decide', 'get https://shop.test/admin from 203.0.113.9 user-agent: desk');
  report.decided = seen.messages.at(-1);
  writeFileSync(join(folder, 'wrong.edge.yaml'), 'edges:\n  https:\n    a: { hostports: [a.test] }\n');
  await command('edgeproof.checkFolder');
  report.folder = {
    message: seen.messages.at(-1),
    files: [...seen.diagnostics.get('edgeproof folder').keys()].map((href) => href.split('/').at(-1)),
  };
  await command('edgeproof.openInspector');
  const [address] = seen.opened;
  const answer = address === undefined ? null : await fetch(address);
  report.inspector = { address: address?.replace(/\d+\/.*=.*/, '…'), status: answer?.status };
  await command('edgeproof.stopInspector');
  report.stopped =
    address === undefined
      ? null
      : await fetch(address).then(
          () => 'still there',
          () => 'gone',
        );
  await command('edgeproof.restart');
  report.restarted = seen.status.text;

  for (const each of subscriptions) each.dispose();
  await deactivate();
  report.left = [...seen.commands.keys()];
  process.stdout.write(JSON.stringify(report));
}

main()
  .catch((error) => {
    process.stderr.write(`${error.stack}\n${JSON.stringify(seen.messages)}\n${seen.output}`);
    process.exitCode = 1;
  })
  .finally(() => setTimeout(() => process.exit(), 5_000).unref());
