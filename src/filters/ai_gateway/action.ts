import { notRun } from '../unsimulated.ts';

/** Recognised and checked, but not simulated. */
export const aiGateway = notRun('ai-gateway', true);
