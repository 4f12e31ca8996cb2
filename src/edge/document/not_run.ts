/**
 * Modules whose configuration is checked but which this version does not run: it refuses requests to their
 * routes with 501. The same modules are `notRun` in `modules/table.ts`.
 */
export const MODULES_NOT_RUN = ['websocket_tcp_converter'] as const;
