/** The files of the folder of a made-up filter, `tea_pot`. */
export const FILES: Readonly<Record<string, string>> = {
  'facts.ts': `import { INT } from '../../cel/types.ts';
import { resultOf } from '../result_types.ts';
export const reasons = {
  'tea_pot.poured': { message: 'the pot had tea left', decision: 'allow' },
  'tea_pot.spilt': { message: 'the tea was spilt', decision: 'block' },
  'tea_pot.stolen': { message: 'the pot was gone', decision: 'block' },
};
export const messages = { brewed: 'tea was brewed', cold: 'the tea was cold' };
export const numbers = { spilt: { number: 4181, title: 'Tea spilt', means: 'The pot was shaken.' } };
export const teaPot = {
  numbers,
  serviceNumbers: [{ number: 4182, title: 'Tea cold', means: 'Tea here is always hot.' }],
  module: {
    type: 'tea_pot', place: 'route', edgeKinds: ['https'], ends: 'may', reasons, costNs: 77_000,
    reads: [{ header: 'x-shake' }],
    samples: () => ({ headers: { 'x-shake': ['hard'] } }),
    cannotHappen: (code) => (code === 'stolen' ? 'this pot is nailed down' : null),
    findings: { 'edge.strong_tea': { severity: 'error', message: 'No guest drinks that much.', number: 4180 } },
    check: ({ cups }, report) => {
      if (cups > 9) report('edge.strong_tea', '/cups', 'more than nine cups');
    },
    examples: { good: [{ cups: 2 }], bad: [{ config: { cups: 0 }, finding: 'edge.out_of_range' }] },
  },
  action: {
    type: 'brew-tea', phases: ['on_http_request'], ends: { when: 'never', how: [] }, leavesRequest: true,
    result: resultOf('brew_tea', 'The tea.', { cups: [INT, 'Number of cups.'], served: [INT, 'Cups of successful requests before.'] }),
    remembersMs: () => Infinity,
    warnings: { 'policy.weak_tea': { message: 'One cup is hardly tea.', cure: ['A pot for one', 'Brew two'] } },
    reasons: messages, alsoCalled: ['boil'], reads: [], costNs: 80,
    check: ({ cups }, report) => {
      if (cups === 1) report('policy.weak_tea', '/cups', 'a single cup');
      if (cups > 9) report(2204, '/cups', 'the kettle has nine cups');
    },
    examples: { good: [{}], bad: [] },
  },
};
`,
  'module.ts': `import { firstValue } from '../../http/fields.ts';
import { numbers, reasons } from './facts.ts';
export const teaPot = {
  type: 'tea_pot', reasons,
  compile: ({ cups }, { refusal }) => ({
    onRequest: ({ headers }) => firstValue(headers, 'x-shake') !== undefined
      ? { verdict: 'stop', reason: { code: 'tea_pot.spilt', detail: {} }, response: refusal(418, numbers.spilt.number, 'Tea was spilt') }
      : { verdict: 'pass', reason: { code: 'tea_pot.poured', detail: { cups } } },
  }),
};
`,
  'module_schema.ts': `import * as z from 'zod';
import { enabled } from '../module_fields_schema.ts';
export const teaPot = z.strictObject({ enabled, cups: z.int().min(1).describe('Number of cups.') }).describe('Pours tea.');
`,
  'action.ts': `import { stepsOf } from '../action.ts';
import { awaitOutcome, keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';
export const brewTea = {
  type: 'brew-tea',
  compile: ({ type, config: { cups } }, { pointer, cell }) => {
    const step = stepsOf(type, messages, pointer)('brewed', { cups });
    const tally = cell(
      () => ({ served: 0 }),
      (own, serial, outcome) => {
        if (outcome === 'success') own.served += serial;
      },
    );
    return {
      run: (policyRun) => {
        keepResult(policyRun, 'brew_tea', { cups, served: tally.of(policyRun).served });
        awaitOutcome(policyRun, tally.index, cups);
        return { verdict: 'pass', step };
      },
    };
  },
};
`,
  'action_schema.ts': `import * as z from 'zod';
import { expression } from '../action_fields_schema.ts';
export const brewTea = z.strictObject({
  cups: z.int().min(1).default(3).describe('Number of cups.'),
  leaves: expression('The leaves.').optional(),
}).describe('Brews tea.');
`,
};
