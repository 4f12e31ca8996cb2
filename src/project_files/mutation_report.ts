import { circumstances, curlOf } from '../analysis/report_diff.ts';
import { MUTATION_OPERATORS, type MutationOperator } from '../analysis/mutation_operators.ts';
import { escapeHtml } from '../http/ascii.ts';
import { xml } from '../diagnostics/xml.ts';
import { type MutationResult, type Survivor, scoreOf } from './mutate.ts';

/** The result for a terminal. */
export function mutationText(result: MutationResult): string {
  return `${[...result.survivors.map(survivorText), conclusion(result)].join('\n')}\n`;
}

function survivorText(survivor: Survivor): string {
  const { operator, message } = survivor;
  return [
    `survives  ${placeOf(survivor)}   ${operator}`,
    `          ${message}`,
    `          ${hintOf(survivor)}`,
  ].join('\n');
}

function placeOf({ place, pointer }: Survivor): string {
  return place === null ? pointer : `${place.file}:${place.line}:${place.column}`;
}

function hintOf({ witness, because }: Survivor): string {
  if (witness === null) return `not decided: ${because.join('; ')}`;
  return `try ${curlOf(witness)} from ${witness.clientIp}${circumstances(witness)}`;
}

function conclusion(result: MutationResult): string {
  const { killed, refused, equivalent, survivors, left } = result;
  const more = left > 0 ? `, ${left} not tried` : '';
  return `${scoreOf(result).toFixed(1)} % noticed: ${killed} killed, ${survivors.length} survive, ${equivalent} proved equivalent, ${refused} refused by the check${more}`;
}

/** The result as data. */
export function mutationJson(result: MutationResult): string {
  const survivors = result.survivors.map(({ witness, ...survivor }) => ({
    ...survivor,
    ...(witness !== null && { witness, try: curlOf(witness) }),
  }));
  return `${JSON.stringify({ score: scoreOf(result), ...result, survivors }, null, 2)}\n`;
}

/** The result as JUnit XML: a test case for each kind of mistake, and one for each survivor. */
export function mutationJunit(result: MutationResult): string {
  const { survivors } = result;
  const kinds = Object.entries(result.operators).filter(([, { survived }]) => survived === 0);
  const passed = kinds.map(
    ([name, { killed }]) =>
      `    <testcase name="${xml(`${name}: ${killed} noticed`)}" classname="mutate" time="0"/>\n`,
  );
  const failed = survivors.map((survivor) => {
    const name = `${survivor.operator}: ${survivor.pointer}: ${survivor.message}`;
    const message = `no case notices that ${survivor.message}`;
    const text = `${placeOf(survivor)}\n${hintOf(survivor)}`;
    return `    <testcase name="${xml(name)}" classname="mutate" time="0"><failure message="${xml(message)}">${xml(text)}</failure></testcase>\n`;
  });
  const counts = `tests="${passed.length + failed.length}" failures="${failed.length}" errors="0"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="edgeproof" ${counts} time="0">\n  <testsuite name="mutate" ${counts} skipped="0" time="0">\n${[...passed, ...failed].join('')}  </testsuite>\n</testsuites>\n`;
}

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.35rem}h2{font-size:1.1rem;margin-top:1.6rem}section{border-top:1px solid #8884;padding:.5rem 0}td,th{text-align:left;padding:.1rem 1rem .1rem 0;font-weight:400}
code{font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}small{opacity:.75}`;

/** The result as one page without scripts, which loads nothing. */
export function mutationPage(result: MutationResult): string {
  const rows = Object.entries(result.operators).map(
    ([name, { killed, survived }]) =>
      `<tr><td>${name}</td><td>${killed}</td><td>${survived}</td><td><small>${escapeHtml(MUTATION_OPERATORS[name as MutationOperator])}</small></td></tr>`,
  );
  const survivors = result.survivors.map(
    (survivor) =>
      `<section><code>${escapeHtml(placeOf(survivor))}</code> <small>${survivor.operator}</small><br>${escapeHtml(survivor.message)}<br><code>${escapeHtml(hintOf(survivor))}</code></section>`,
  );
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>Mistakes that no case notices</title>
<style>${STYLE}</style></head><body>
<h1>${escapeHtml(conclusion(result))}</h1>
<table><tr><th>operator</th><th>killed</th><th>survive</th><th></th></tr>${rows.join('')}</table>
<h2>Mistakes that no case notices</h2>
${survivors.join('\n')}
</body></html>
`;
}
