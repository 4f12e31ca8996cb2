import type { Member } from './setting.ts';

/** Who can reach whom. */
export class Partition {
  /** The group of each member that is named; the others are in group 0. */
  #groups = new Map<Member, number>();

  /** Replaces the former groups. */
  cut(groups: readonly (readonly Member[])[]): void {
    this.#groups = new Map(groups.flatMap((group, index) => group.map((member) => [member, index + 1])));
  }

  join(): void {
    this.#groups.clear();
  }

  areTogether(one: Member, other: Member): boolean {
    return (this.#groups.get(one) ?? 0) === (this.#groups.get(other) ?? 0);
  }
}
