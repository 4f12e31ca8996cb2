import { hasErrors } from '../diagnostics/diagnostic.ts';
import { type ValidationCache, validationCache } from '../edge/document/validation_cache.ts';
import { withoutFiles } from '../edge/document/without_files.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import type { Blame, ChangedRegion, Comparison } from './comparison.ts';
import { type ConfigChange, configChanges } from './config_changes.ts';
import { type Compared, byWeight, compare } from './diff.ts';
import { differencesOf } from './differences.ts';
import { changeOf } from './judge.ts';
import { Analysis, Model } from './model.ts';
import { observe } from './witness.ts';

/** More changed parts are not tried one by one. */
const PART_LIMIT = 100;
/** Routes that are compiled while parts are tried; each part costs a compilation of the whole file. */
const ROUTE_LIMIT = 20_000;

/**
 * As `compare`, and names for each change the part that makes it: with only this part as it was before, the engine
 * treats the witness as before.
 */
export function diff(before: Compared, after: Compared): Comparison {
  const comparison = compare(before, after);
  if (comparison.changes.length === 0) return comparison;
  const tried = triedParts(before, after);
  const blamed = new Set<TriedPart>();
  const changes = comparison.changes.map((region) => {
    const part = partBehind(region, tried);
    if (part === null) return region;
    blamed.add(part);
    return { ...region, blame: blameOn(part, before, after) };
  });
  const hidden = tried.filter((part) => !blamed.has(part));
  return { ...comparison, changes: [...changes, ...hiddenChanges(hidden, before, after)].sort(byWeight) };
}

/**
 * What the other parts change, although requests that show another difference hide it: the effect of each alone. The
 * witness is treated differently by the whole configurations, too.
 */
function hiddenChanges(
  parts: readonly TriedPart[],
  before: Compared,
  after: Compared,
): readonly ChangedRegion[] {
  const analysis = new Analysis();
  const [older, newer] = [before, after].map(({ config, locate }) => new Model(config, analysis, locate));
  const found: ChangedRegion[] = [];
  for (const part of parts) {
    const model = part.undone();
    if (model === null) continue;
    for (const region of compare({ config: model.config }, { config: after.config }).changes) {
      const [old, next] = [older!, newer!].map((each) => observe(each, region.witness));
      if (!old || !next || old.seen === next.seen) continue;
      const differs = differencesOf(old, next);
      const replayed = { before: old, after: next };
      const blame = blameOn(part, before, after);
      found.push({ ...region, change: changeOf(old, next), differs, replayed, blame });
    }
  }
  return found;
}

interface TriedPart {
  readonly change: ConfigChange;
  /** The newer configuration with this part as before; null if that is invalid. */
  readonly undone: () => Model | null;
}

function triedParts({ config: before }: Compared, { config: after, locate }: Compared): readonly TriedPart[] {
  const changes: ConfigChange[] = [];
  for (const change of configChanges(withoutFiles(before), withoutFiles(after)))
    if (changes.push(change) > PART_LIMIT) return [];
  const routes = Object.values(after.edges.https).reduce((sum, edge) => sum + edge.routes.length, 0);
  if (changes.length * routes > ROUTE_LIMIT) return [];
  const cache = validationCache(after);
  return changes.map((change) => {
    let model: Model | null | undefined;
    const undone = () => (model === undefined ? (model = modelOf(change.undone, locate, cache)) : model);
    return { change, undone };
  });
}

/** The cache has what was found valid in the newer configuration. */
function modelOf(value: unknown, locate: Compared['locate'], cache: ValidationCache): Model | null {
  const { config, diagnostics } = checkWholeEdge({ value }, { cache });
  if (config === null || hasErrors(diagnostics)) return null;
  return new Model(config, new Analysis(), locate);
}

function partBehind({ witness, replayed }: ChangedRegion, tried: readonly TriedPart[]): TriedPart | null {
  const isBehind = ({ undone }: TriedPart): boolean => {
    const model = undone();
    return model !== null && observe(model, witness)?.seen === replayed.before.seen;
  };
  return tried.find(isBehind) ?? null;
}

function blameOn({ change }: TriedPart, before: Compared, after: Compared): Blame {
  return {
    pointer: change.after ?? change.before ?? '',
    ...(change.was !== undefined && { was: written(change.was) }),
    ...(change.is !== undefined && { is: written(change.is) }),
    before: change.before === null ? null : (before.locate?.(change.before) ?? null),
    after: change.after === null ? null : (after.locate?.(change.after) ?? null),
  };
}

const WRITTEN_UNITS = 120;

function written(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > WRITTEN_UNITS ? `${text.slice(0, WRITTEN_UNITS)}…` : text;
}
