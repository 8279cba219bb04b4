// The queue of the turns of one session in this process, whichever handle or host begins them.
import { type Place, Queues } from "../queue.js";

export type { Place };

const queues = new Queues();
/** The sessions of which a turn runs: the first in the queue, once it has the lock too. */
const running = new Set<string>();

/** The keys name the sessions among all of this process. */
export const TurnQueue = {
  /** Whether somebody runs a turn or waits for one. */
  isBusy: (key: string): boolean => queues.isBusy(key),
  isRunning: (key: string): boolean => running.has(key),
  of: (key: string) => ({
    join: (): Place => queues.join(key),
    /** A turn runs, until what this gives is called. */
    run: (): (() => void) => {
      running.add(key);
      return () => running.delete(key);
    },
  }),
};
