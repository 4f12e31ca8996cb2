import { expect } from 'vitest';
import type { Report } from '../../src/reports/data.ts';

const DATA = /<script type="application\/json" id="data">([^<]*)<\/script>/;

/** What a saved report contains; fails where it is not of the kind, or would load anything. */
export function reportOf<Kind extends Report['kind']>(
  page: string,
  kind: Kind,
): Extract<Report, { kind: Kind }> {
  expect(page).not.toMatch(/<(?:script|link|img|iframe)[^>]* (?:src|href)=(?!"data:,")/);
  expect(page).toContain("default-src 'none'");
  const report = JSON.parse(DATA.exec(page)![1]!) as Report;
  expect(report.kind).toBe(kind);
  return report as Extract<Report, { kind: Kind }>;
}
