import { annotation } from '../diagnostics/annotations.ts';
import { codeSpan } from '../diagnostics/markdown.ts';
import { FORWARDED_METHODS } from '../http/methods.ts';
import type { Place } from '../edge/explain.ts';
import {
  CHANGES,
  type Blame,
  type ChangedRegion,
  type Comparison,
  type RegionSize,
  type UndecidedRegion,
} from './comparison.ts';
import type { Observed, Witness } from './witness.ts';
import { counted, grouped } from '../diagnostics/message_text.ts';

/** A comparison as plain data: large numbers are texts. */
export function diffData({ verdict, changes, undecided, cells }: Comparison): object {
  return {
    verdict,
    cells,
    changes: changes.map(({ change, differs, where, conditions, size, witness, replayed, blame }) => ({
      change,
      where,
      conditions,
      size: {
        addresses: { v4: String(size.addresses.v4), v6: String(size.addresses.v6) },
        methods: size.methods,
        classes: size.classes,
      },
      differs,
      ...(blame !== undefined && { blame }),
      witness,
      before: observedData(replayed.before),
      after: observedData(replayed.after),
    })),
    undecided,
  };
}

function observedData(observed: Observed): object {
  const { status, backend, explanation } = observed;
  const { code, pointer } = explanation.decidedBy;
  return { status, backend, code, pointer, place: placeOf(observed) };
}

/** A comparison for a terminal. */
export function diffText(comparison: Comparison): string {
  const { changes, undecided } = comparison;
  return `${[...changes.map(changeText), ...undecided.map(undecidedText), conclusion(comparison)].join('\n\n')}\n`;
}

/** By which a comment on a pull request is found again. */
const MARK = '<!-- edgeproof diff -->';

/** A comparison as a comment on a pull request. */
export function diffMarkdown(comparison: Comparison): string {
  const { changes, undecided } = comparison;
  const parts = [MARK, `**${conclusion(comparison)}**`, ...changes.map(changeMarkdown)];
  const open = undecided.map(
    ({ where, reasons }) =>
      `- UNDECIDED ${codeSpan(where)}: ${reasons.map((each) => codeSpan(each)).join('; ')}`,
  );
  return `${[...parts, ...(open.length === 0 ? [] : [open.join('\n')])].join('\n\n')}\n`;
}

function changeMarkdown(region: ChangedRegion): string {
  const { change, where, conditions, differs, witness, replayed, blame } = region;
  const rows = [
    ...conditions.map((condition) => `- where ${codeSpan(condition)}`),
    `- size: ${sizeText(region.size)}`,
    ...differs.map((each) => `- ${codeSpan(each)}`),
    ...(blame === undefined ? [] : [`- because ${codeSpan(blameText(blame))}`]),
    ...deciders(region).map(([label, place]) => `- ${label} ${codeSpan(place)}`),
    `- try ${codeSpan(curlOf(witness))} from ${codeSpan(witness.clientIp)}${circumstances(witness)}`,
  ];
  const title = `**${change}** ${codeSpan(where)}: ${codeSpan(resultOf(replayed.before))} → ${codeSpan(resultOf(replayed.after))}`;
  return `<details open><summary>${change}</summary>\n\n${title}\n\n${rows.join('\n')}\n\n</details>`;
}

/** A comparison as annotations of GitHub Actions: a line for each change. */
export function diffAnnotations({ changes, undecided }: Comparison): string {
  const lines = [
    ...changes.map((region) =>
      annotation(
        region.change === 'OPENED' ? 'error' : 'warning',
        placeOfChange(region),
        region.change,
        sentenceOf(region),
      ),
    ),
    ...undecided.map(({ where, reasons }) =>
      annotation('notice', null, 'UNDECIDED', `${where}: ${reasons.join('; ')}`),
    ),
  ];
  return lines.join('');
}

/** A change in one line. */
export function sentenceOf({ where, replayed, witness, blame }: ChangedRegion): string {
  const reason = blame === undefined ? '' : `, because ${blameText(blame)}`;
  return `${where}: ${resultOf(replayed.before)} → ${resultOf(replayed.after)}${reason}; ${curlOf(witness)} from ${witness.clientIp}${circumstances(witness)}`;
}

/** The place of a change in the newer configuration. */
export function placeOfChange({ blame, replayed }: ChangedRegion): Place | null {
  return blame?.after ?? placeOf(replayed.after);
}

/** The place of a change in the older configuration. */
export function placeBefore({ blame, replayed }: ChangedRegion): Place | null {
  return blame?.before ?? placeOf(replayed.before);
}

function changeText(region: ChangedRegion): string {
  const { change, where, conditions, differs, witness, replayed, blame } = region;
  const { before, after } = replayed;
  return [
    `${change.padEnd(9)} ${where}   ${resultOf(before)} → ${resultOf(after)}`,
    ...conditions.map((condition, at) => row(at === 0 ? 'where' : 'and', condition)),
    row('size', sizeText(region.size)),
    ...differs.map((each) => row('differs', each)),
    ...(blame === undefined ? [] : [row('because', blameText(blame))]),
    ...deciders(region).map(([label, place]) => row(label, place)),
    row('try', `${curlOf(witness)}   from ${witness.clientIp}${circumstances(witness)}`),
  ].join('\n');
}

function row(label: string, text: string): string {
  return `          ${label.padEnd(8)}${text}`;
}

/** The places that decided. */
export function deciders({ replayed }: ChangedRegion): readonly (readonly [label: string, place: string])[] {
  const places = [
    ['was', placeOf(replayed.before)],
    ['is', placeOf(replayed.after)],
  ] as const;
  return places.flatMap(([label, place]) => (place === null ? [] : [[label, shownPlace(place)] as const]));
}

/** The part that makes a change, before and after. */
export function blameText({ pointer, was, is, before, after }: Blame): string {
  const name = pointer.split('/').slice(-2).join('/');
  const places = [before, after].flatMap((place) => (place === null ? [] : [shownPlace(place)]));
  return `${places.join(' → ')}  ${name}: ${was ?? 'nothing'} → ${is ?? 'nothing'}`;
}

export function sizeText({ addresses: { v4, v6 }, methods, classes }: RegionSize): string {
  const all = v4 === 2n ** 32n && v6 === 2n ** 128n - 2n ** 32n;
  const from = all ? 'every address' : `${grouped(v4)} IPv4 and ${shortened(v6)} IPv6 addresses`;
  const more = classes === 1 ? '' : `, ${classes} classes`;
  const by = methods === FORWARDED_METHODS.size ? 'every method' : counted(methods, 'method');
  return `${from}, ${by}${more}`;
}

/** Numbers of IPv6 addresses have up to 39 digits. */
function shortened(count: bigint): string {
  const text = String(count);
  return text.length <= 15 ? grouped(count) : `${text[0]!}.${text.slice(1, 3)}e${text.length - 1}`;
}

/** How the world has to be for a witness to show a difference. */
export function circumstances({ before, chance }: Witness): string {
  const after =
    before === undefined
      ? ''
      : `, after ${counted(before.count, 'such request')}${before.failing ? ' that failed' : ''} and ${before.thenMs} ms`;
  return `${after}${chance === undefined ? '' : `, where chance gives ${chance}`}`;
}

function undecidedText({ where, conditions, reasons }: UndecidedRegion): string {
  return [
    `UNDECIDED ${where}`,
    ...conditions.map((condition, at) => row(at === 0 ? 'where' : 'and', condition)),
    ...reasons.map((each) => row('because', each)),
  ].join('\n');
}

/** The verdict in one line. */
export function conclusion({ verdict, changes, undecided, cells }: Comparison): string {
  const classes = `${counted(cells.all, 'class', 'classes')} of hosts and paths`;
  if (verdict === 'equivalent')
    return `PROVED EQUIVALENT: ${classes}, for requests within the limits of evaluation`;
  const open = undecided.length === 0 ? '' : `; ${undecided.length} undecided`;
  if (verdict === 'undecided') return `UNDECIDED: no difference was found in ${classes}${open}`;
  const counts = CHANGES.flatMap((change) => {
    const count = changes.filter((region) => region.change === change).length;
    return count === 0 ? [] : [`${count} ${change}`];
  });
  return `DIFFERENT: ${counts.join(', ')}${open}; ${classes}`;
}

/** What the engine did with a witness, in a few words. */
export function resultOf({ status, backend, explanation: { decidedBy } }: Observed): string {
  if (backend !== null && decidedBy.verdict === 'pass') return `${status} from ${backend}`;
  return `${status} ${decidedBy.code}`;
}

/** The place that decided: the part of a policy, if it was one. */
function placeOf({ explanation: { decidedBy } }: Observed): Place | null {
  return decidedBy.inner?.findLast(({ place }) => place !== null)?.place ?? decidedBy.place;
}

function shownPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** A command line that sends the request. */
export function curlOf({ method, url, headers }: Witness): string {
  const options = headers.map(([name, value]) => ` -H ${quotedArgument(`${name}: ${value}`)}`);
  return `curl${method === 'GET' ? '' : ` -X ${method}`}${options.join('')} ${quotedArgument(url)}`;
}

function quotedArgument(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
