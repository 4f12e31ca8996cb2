import { notRun } from '../../unsimulated.ts';

/** Recognised and checked, not simulated. */
export const aiGateway = notRun('ai-gateway', true);
