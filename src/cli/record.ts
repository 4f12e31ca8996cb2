import type {Command} from 'commander'; export function register(_: Command) {}
