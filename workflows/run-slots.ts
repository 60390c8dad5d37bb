/**
 * `policy.inFlight` over the whole run: who of the open parts of waves has how many slots.
 *
 * Invariant: the slots of all open parts together are never more than the limit. A slot is written down here before a part may use it, and
 * is given to another only after the part has said that it gave it back.
 */
import { getExternalWorkflowHandle, isCancellation } from '@temporalio/workflow';
import type { SlotOrder, SlotShare } from '../spec/slots.ts';
import { balanceSlots, slotsToRun } from '../spec/slots.ts';
import type { WaveReport } from './protocol.ts';
import { slotsMessage } from './protocol.ts';

export interface OpenPart extends SlotShare {
  readonly wave: number;
  readonly part: number;
  /** It has been told that others lack slots. */
  readonly scarce: boolean;
}

export class OpenParts extends Map<string, OpenPart> {
  readonly #limit: number;

  /** @param limit policy.inFlight */
  constructor(limit: number, parts: Iterable<readonly [string, OpenPart]> = []) {
    super(parts);
    this.#limit = limit;
  }

  /** Further parts, by workflow id, each with its number of tasks. What they get of the slots at once is in the table then. */
  open(
    parts: readonly { readonly id: string; readonly wave: number; readonly part: number; readonly tasks: number }[],
  ): void {
    for (const { id, wave, part, tasks } of parts)
      this.set(id, { wave, part, slots: 0, asked: 0, wants: slotsToRun(tasks), scarce: false });
    const orders = this.#orders();
    for (const { id } of parts) this.#note(id, orders.get(id)!);
  }

  /** What a part says of itself. */
  report(id: string, { returned, wants, closed }: WaveReport): void {
    const part = this.get(id);
    if (part === undefined) return;
    if (closed) this.delete(id);
    else this.set(id, { ...part, wants, slots: part.slots - returned, asked: Math.max(0, part.asked - returned) });
  }

  /** Moves slots to where they are lacked. */
  async balance(): Promise<void> {
    for (const [id, order] of this.#orders()) {
      const part = this.get(id);
      if (part === undefined) continue; // closed since
      if (order.give === 0 && order.ask === 0 && order.scarce === part.scarce) continue;
      this.#note(id, order);
      try {
        await getExternalWorkflowHandle(id).signal(slotsMessage, order);
      } catch (error) {
        if (isCancellation(error)) throw error; // otherwise it has closed meanwhile
      }
    }
  }

  #orders(): Map<string, SlotOrder & { readonly scarce: boolean }> {
    const parts = [...this.values()];
    const orders = balanceSlots(this.#limit, parts);
    const lacking = parts.reduce((sum, { wants }) => sum + wants, 0) > this.#limit;
    const ids = [...this.keys()];
    return new Map(orders.map((order, index) => [ids[index]!, { ...order, scarce: lacking || parts[index]!.scarce }]));
  }
  #note(id: string, { give, ask, scarce }: SlotOrder & { readonly scarce: boolean }): void {
    const part = this.get(id)!;
    this.set(id, { ...part, slots: part.slots + give, asked: part.asked + ask, scarce });
  }
}
