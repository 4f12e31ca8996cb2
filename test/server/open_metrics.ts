/** A strict parser of OpenMetrics 1.0 text, by its ABNF and rules; throws at the first error. */

export interface ReadFamily {
  readonly type: string;
  readonly samples: Map<string, number>;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum', '_created'],
};

export function readOpenMetrics(text: string): Map<string, ReadFamily> {
  if (!text.endsWith('# EOF\n')) throw new Error('the text does not end with # EOF and a line feed');
  const lines = text.slice(0, -1).split('\n');
  if (lines.indexOf('# EOF') !== lines.length - 1) throw new Error('there is something behind # EOF');
  const families = new Map<string, ReadFamily>();
  let name = '';
  let told = new Set<string>();
  for (const line of lines.slice(0, -1)) {
    const meta = /^# (TYPE|UNIT|HELP) (\S+) (.+)$/.exec(line);
    if (meta !== null) {
      const [, kind, of, value] = meta as unknown as [string, string, string, string];
      if (!NAME.test(of)) throw new Error(`no name: ${line}`);
      if (of !== name) {
        if (families.has(of)) throw new Error(`the family ${of} is in two places`);
        name = of;
        told = new Set();
        families.set(of, { type: kind === 'TYPE' ? value : 'unknown', samples: new Map() });
      }
      if (told.has(kind)) throw new Error(`${kind} of ${of} twice`);
      if (families.get(of)!.samples.size > 0) throw new Error(`${kind} of ${of} behind its samples`);
      if (kind === 'UNIT' && !of.endsWith(`_${value}`)) throw new Error(`${of} is not named by its unit`);
      if (kind === 'TYPE' && !(value in SUFFIXES)) throw new Error(`no type: ${value}`);
      told.add(kind);
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) throw new Error(`no sample: ${line}`);
    const [, full, labels = '', number] = sample as unknown as [string, string, string | undefined, string];
    const family = families.get(name);
    if (family === undefined || !full.startsWith(name)) throw new Error(`${full} is of no family here`);
    if (!SUFFIXES[family.type]!.includes(full.slice(name.length))) throw new Error(`the suffix of ${full}`);
    readLabels(labels);
    const value = Number(number);
    if (Number.isNaN(value) || (family.type === 'counter' && value < 0)) throw new Error(`value: ${line}`);
    const key = `${full}{${labels}}`;
    if (family.samples.has(key)) throw new Error(`${key} twice`);
    family.samples.set(key, value);
  }
  for (const [of, family] of families) if (family.type === 'histogram') checkHistogram(of, family);
  return families;
}

function readLabels(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (let rest = text; rest !== '';) {
    const label = LABEL.exec(rest);
    if (label === null) throw new Error(`labels: ${text}`);
    if (labels.has(label[1]!)) throw new Error(`label ${label[1]} twice`);
    labels.set(label[1]!, label[2]!);
    rest = rest.slice(label[0].length);
  }
  return labels;
}

/** Buckets increase, the last is infinite and equals the count. */
function checkHistogram(name: string, { samples }: ReadFamily): void {
  const last = new Map<string, { le: number; count: number }>();
  for (const [key, count] of samples) {
    if (!key.startsWith(`${name}_bucket`)) continue;
    const labels = readLabels(key.slice(name.length + '_bucket{'.length, -1));
    const le = Number(labels.get('le')!.replace('+Inf', 'Infinity'));
    labels.delete('le');
    const of = JSON.stringify([...labels]);
    const before = last.get(of);
    if (before !== undefined && (le <= before.le || count < before.count)) throw new Error(`order: ${key}`);
    last.set(of, { le, count });
  }
  for (const [of, { le, count }] of last) {
    const labels = (JSON.parse(of) as [string, string][]).map(([label, value]) => `${label}="${value}"`);
    if (le !== Infinity) throw new Error(`${name} has no infinite bucket`);
    if (samples.get(`${name}_count{${labels.join(',')}}`) !== count) throw new Error(`the count of ${name}`);
  }
}
