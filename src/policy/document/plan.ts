import { ACTION_FACTS } from '../../filters/table.ts';
import type { Plan } from './setting.ts';

/** Parses a plan such as `rules=5,expressions=3,actions=3,without=oauth`; null for anything else. */
export function readPlan(written: string): Plan | null {
  const counts: Record<string, number> = {};
  const withoutActions: string[] = [];
  for (const part of written.split(',')) {
    const [key = '', value = ''] = part.split('=').map((each) => each.trim());
    if (key === 'without' && ACTION_FACTS.has(value)) withoutActions.push(value);
    else if (Object.hasOwn(COUNTS, key) && /^\d{1,6}$/.test(value)) counts[COUNTS[key]!] = Number(value);
    else return null;
  }
  return { ...counts, withoutActions };
}

const COUNTS: Readonly<Record<string, keyof Plan>> = {
  rules: 'rulesPerPolicy',
  expressions: 'expressionsPerRule',
  actions: 'actionsPerRule',
};
