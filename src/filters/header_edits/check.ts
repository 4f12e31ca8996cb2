import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import { headerEditProblems } from './algorithm.ts';

export const findings = {
  'edge.interpolation_not_available': {
    cure: [
      '`add: { x-ip: "${conn.client_ip}" }` in a module',
      'Use the action add-headers of a traffic policy',
    ],
    message: 'Expressions in header values are not supported in this version.',
  },
} as const;

export interface HeaderEditConfig {
  readonly add: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

/** Checks the header edits of requests or responses. */
export function checkHeaderEdits(side: 'request' | 'response') {
  return (
    config: Sound<HeaderEditConfig>,
    report: Report<keyof typeof findings | 'edge.bad_header'>,
  ): void => {
    const { add = {}, remove = [] } = config;
    for (const [name, value] of Object.entries(add)) {
      if (value?.includes('${') !== true) continue;
      const message = `expressions such as ${quoted(interpolation(value))} in header values are not supported in this version`;
      report('edge.interpolation_not_available', pointerTo('/add', name), message);
    }
    const problems = headerEditProblems(
      {
        // An invalid value, or an expression, is reported elsewhere; its name still counts.
        add: Object.entries(add).map(([name, value]) => [
          name,
          value === undefined || value.includes('${') ? 'x' : value,
        ]),
        remove: remove.filter((name) => name !== undefined),
      },
      side,
    );
    const reported = new Set<number>();
    for (const { where, name, reason, message } of problems) {
      if (where === 'add') {
        const at = reason === 'invalid_value' ? 'value' : 'key';
        const hint = reason === 'invalid_value' ? 'header values are one line of Latin letters' : undefined;
        report('edge.bad_header', pointerTo('/add', name), message, { at, hint });
        continue;
      }
      // A repeated name is reported at each of its places.
      const index = remove.findIndex((other, at) => other === name && !reported.has(at));
      reported.add(index);
      report('edge.bad_header', pointerTo('/remove', Math.max(index, 0)), message);
    }
  };
}

function interpolation(value: string): string {
  return /\$\{[^}]*\}?/.exec(value)?.[0] ?? value;
}
