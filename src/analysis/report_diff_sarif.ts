import { sarifLog, sarifUri } from '../diagnostics/sarif.ts';
import type { Place } from '../edge/explain.ts';
import { CHANGES, type ChangedRegion, type Comparison } from './comparison.ts';
import { curlOf, placeBefore, placeOfChange, sentenceOf } from './report_diff.ts';

/** What was compared, as the user named it. */
export interface DiffNames {
  readonly before: string;
  readonly after: string;
  readonly version: string;
}

const RULES: Readonly<Record<string, string>> = {
  OPENED: 'Requests that were refused get through.',
  CLOSED: 'Requests that got through are refused.',
  REROUTED: 'Another backend responds.',
  CHANGED: 'The response or the request to the upstream differs.',
  UNDECIDED: 'Nothing is known about these requests.',
};

/** A comparison in SARIF 2.1.0 (OASIS), for code scanning. */
export function diffSarif({ changes, undecided }: Comparison, { before, after, version }: DiffNames): object {
  const names = [...CHANGES, 'UNDECIDED'];
  const results = [
    ...changes.map((region) => ({
      ruleId: idOf(region.change),
      ruleIndex: names.indexOf(region.change),
      level: region.change === 'OPENED' ? 'error' : 'warning',
      message: { text: sentenceOf(region) },
      locations: [locationOf(placeOfChange(region), after)],
      ...relatedTo(region),
      partialFingerprints: {
        'region/v1': `${region.change} ${region.where} ${region.conditions.join(' and ')}`,
      },
      properties: {
        where: region.where,
        conditions: region.conditions,
        differs: region.differs,
        request: curlOf(region.witness),
        client: region.witness.clientIp,
      },
    })),
    ...undecided.map(({ where, conditions, reasons }) => ({
      ruleId: idOf('UNDECIDED'),
      ruleIndex: names.indexOf('UNDECIDED'),
      level: 'note',
      message: { text: `${where}: ${reasons.join('; ')}` },
      locations: [locationOf(null, after)],
      partialFingerprints: { 'region/v1': `UNDECIDED ${where} ${conditions.join(' and ')}` },
      properties: { where, conditions, reasons },
    })),
  ];
  const rules = names.map((name) => ({
    id: idOf(name),
    name,
    shortDescription: { text: RULES[name]! },
  }));
  return sarifLog({ tool: 'edgeproof diff', version, rules, properties: { before, after }, results });
}

function idOf(name: string): string {
  return `edgeproof/${name.toLowerCase()}`;
}

/** A place of the newer file; its beginning if no place is known. */
function locationOf(place: Place | null, file: string) {
  const { line, column } = place ?? { line: 1, column: 1 };
  return {
    physicalLocation: {
      artifactLocation: { uri: sarifUri(place?.file ?? file) },
      region: { startLine: line, startColumn: column },
    },
  };
}

function relatedTo(region: ChangedRegion): object {
  const place = placeBefore(region);
  if (place === null) return {};
  return { relatedLocations: [{ ...locationOf(place, ''), message: { text: `before, in ${place.file}` } }] };
}
