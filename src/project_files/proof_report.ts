import type { Proof, Property } from '../analysis/prove.ts';
import { circumstances, curlOf } from '../analysis/report_diff.ts';
import { counted } from '../diagnostics/message_text.ts';
import { xml } from '../diagnostics/xml.ts';

/** A property, the file that states it, and its result. */
export interface ProvedProperty {
  readonly property: Property;
  readonly file: string;
  readonly proof: Proof;
}

/** Proofs and refutations for a terminal. */
export function proofsText(proved: readonly ProvedProperty[]): string {
  return proved
    .flatMap(linesOf)
    .map((line) => `${line}\n`)
    .join('');
}

function linesOf({ property: { name }, proof }: ProvedProperty): readonly string[] {
  const title = `${proof.verdict.padEnd(9)} ${name}`;
  switch (proof.verdict) {
    case 'PROVED':
      return [`${title}   ${counted(proof.classes, 'class', 'classes')} of requests`];
    case 'REFUTED': {
      const { where, conditions, witness, observed } = proof;
      const { status, backend, explanation } = observed;
      const { decidedBy } = explanation;
      const place = decidedBy.inner?.findLast((each) => each.place !== null)?.place ?? decidedBy.place;
      return [
        title,
        `          at     ${where}`,
        ...conditions.map((condition, at) => `          ${at === 0 ? 'where ' : 'and   '} ${condition}`),
        `          try    ${curlOf(witness)}   from ${witness.clientIp}${circumstances(witness)}`,
        `          gives  ${status}${backend === null ? '' : ` from ${backend}`}   ${decidedBy.code}`,
        ...(place === null ? [] : [`          in     ${place.file}:${place.line}:${place.column}`]),
      ];
    }
    case 'UNDECIDED':
      return [
        title,
        ...proof.open.map(({ where, reasons }) => `          ${where} not known: ${reasons.join('; ')}`),
      ];
    case 'INVALID':
      return [title, `          ${proof.problem}`];
  }
}

/** The same as data. */
export function proofsJson(proved: readonly ProvedProperty[]): string {
  const data = proved.map(({ property, file, proof }) => ({ name: property.name, file, ...dataOf(proof) }));
  return `${JSON.stringify(data, null, 2)}\n`;
}

function dataOf(proof: Proof): object {
  if (proof.verdict !== 'REFUTED') return proof;
  const { observed, ...rest } = proof;
  const { status, backend, explanation } = observed;
  return { ...rest, status, backend, code: explanation.decidedBy.code, place: explanation.decidedBy.place };
}

/** JUnit XML: a test case for each property; one that is not decided is skipped. */
export function proofsJunit(proved: readonly ProvedProperty[]): string {
  const count = (...verdicts: readonly Proof['verdict'][]): number =>
    proved.filter(({ proof }) => verdicts.includes(proof.verdict)).length;
  const counts = `tests="${proved.length}" failures="${count('REFUTED')}" errors="${count('INVALID')}"`;
  const cases = proved.map((each) => {
    const { property, file, proof } = each;
    const head = `    <testcase name="${xml(property.name)}" classname="${xml(file)}" time="0"`;
    if (proof.verdict === 'PROVED') return `${head}/>\n`;
    const tag = { REFUTED: 'failure', INVALID: 'error', UNDECIDED: 'skipped' }[proof.verdict];
    const text = linesOf(each).join('\n');
    return `${head}><${tag} message="${xml(proof.verdict)}">${xml(text)}</${tag}></testcase>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="edgeproof" ${counts} time="0">\n  <testsuite name="prove" ${counts} skipped="${count('UNDECIDED')}" time="0">\n${cases.join('')}  </testsuite>\n</testsuites>\n`;
}
