import { durationText, rateText } from '../report/numbers.ts';
import type { LoadResult } from './run.ts';
import type { Sweep } from './sweep.ts';

/** The parameters and results of a load run, for the report. */
export interface LoadReport {
  readonly url: string;
  readonly rate: number;
  readonly arrivals: 'constant' | 'poisson';
  readonly protocol: 'HTTP/1.1' | 'HTTP/2';
  readonly result: LoadResult;
}

/** Formats a load run for a terminal. */
export function loadText({ url, rate, arrivals, protocol, result }: LoadReport): string {
  const { sent, completed, perSecond, latency, service, statuses, failures, unanswered } = result;
  const ended = [
    ...counts(statuses),
    ...counts(failures),
    ...(unanswered > 0 ? [`${unanswered} × no response`] : []),
  ];
  const head = `${url}  ${protocol}, target rate ${rateText(rate)} (${arrivals})
  ${sent} sent, ${completed} answered, ${rateText(perSecond)}: ${ended.join(', ')}\n`;
  if (completed === 0) return head;
  return [
    head,
    `  ${' '.repeat(22)}${['p50', 'p90', 'p99', 'p99.9', 'max'].map((name) => name.padStart(10)).join('')}`,
    row('from when it was due', latency),
    row('from when it was sent', service),
    '',
  ].join('\n');
}

/** Formats a sweep for a terminal. */
export function sweepText(url: string, { steps, knee }: Sweep): string {
  const lines = steps.map(
    ({ rate, held, result }) =>
      `  ${rateText(rate).padStart(10)}  ${held ? 'held  ' : 'missed'}  ${rateText(result.perSecond).padStart(10)} answered  p99 ${durationText(result.latency.p99)}`,
  );
  const end = knee === 0 ? 'no rate was sustained' : `the highest sustained rate is ${rateText(knee)}`;
  return [url, ...lines, `  ${end}`, ''].join('\n');
}

function counts(of: Readonly<Record<string, number>>): string[] {
  return Object.entries(of).map(([name, count]) => `${count} × ${name}`);
}

function row(name: string, { p50, p90, p99, p999, max }: LoadResult['latency']): string {
  const numbers = [p50, p90, p99, p999, max].map((ns) => durationText(ns).padStart(10));
  return `  ${name.padEnd(22)}${numbers.join('')}`;
}
